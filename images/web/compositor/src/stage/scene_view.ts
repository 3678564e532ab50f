/** One layout on the page, as large as the canvas. */

import type {Room} from '../room/room';
import type {LiveSources} from '../content/live_sources';
import type {LayerFailures} from '../failure/layer_failures';
import type {LayerAnimations} from '../motion/animations';
import {Bus, type Mixer} from '../sound/mixer';
import {difference, drawnOf, type Drawn} from '../state/drawn';
import type {Layout, Scene} from '../state/scene';
import {LayerView, type ViewContext} from './layer_view';
import {after, nextFrame} from './waiting';

export interface Context {
  readonly mixer: Mixer;
  readonly sources: LiveSources;
  readonly room: Room;
  readonly failures: LayerFailures;
}

/** A layer that has not come by then is given up; it is shown when it comes. */
const GIVE_UP_MS = 8000;
/** A page that nobody sees paints nothing. */
const PAINT_AHEAD_MS = 200;

export class SceneView {
  readonly element = Object.assign(document.createElement('div'), {className: 'scene'});
  readonly bus: Bus;
  private readonly inside = Object.assign(document.createElement('div'), {className: 'layout'});
  private readonly views = new Map<string, LayerView>();
  private readonly context: ViewContext;
  private drawn: ReadonlyMap<string, Drawn> = new Map();
  private onAir = false;
  private wanted = false;

  constructor(private layout: Layout, canvas: Scene['canvas'], {mixer, sources, room, failures}: Context) {
    this.element.append(this.inside);
    this.element.dataset['layout'] = layout.id;
    this.bus = new Bus(mixer);
    this.context = {
      bus: this.bus,
      sources,
      room,
      layout: {width: layout.width, height: layout.height},
      fail: (layerId, reason) => failures.set(layout.id, layerId, reason),
    };
    this.fit(canvas);
    this.draw(new Map());
  }

  get id(): string {
    return this.layout.id;
  }

  /** Resolved once all layers are there or given up. */
  get ready(): Promise<void> {
    const all = Promise.all([...this.views.values()].map(view => view.ready)).then(() => undefined);
    return Promise.race([all, after(GIVE_UP_MS)]);
  }

  /** Whether a layout of this size can be drawn here: what fills it goes by its size. */
  suits(layout: Layout): boolean {
    return layout.width === this.layout.width && layout.height === this.layout.height;
  }

  update(layout: Layout, canvas: Scene['canvas'], animations: LayerAnimations): void {
    const same = layout.layers === this.layout.layers;
    this.layout = layout;
    this.element.dataset['version'] = String(layout.version);
    this.fit(canvas);
    if (!same) this.draw(animations);
  }

  /** Takes what is live, or leaves it. */
  setWanted(wanted: boolean): void {
    if (wanted === this.wanted) return;
    this.wanted = wanted;
    for (const view of this.views.values()) view.setWanted(wanted);
  }

  setOnAir(onAir: boolean): void {
    this.onAir = onAir;
    if (onAir) this.setWanted(true);
    this.element.classList.toggle('shown', onAir);
    for (const view of this.views.values()) view.setOnAir(onAir);
  }

  /**
   * Paints it above all others, too faint to be seen. What is covered, or beside the picture, the browser paints only
   * once it shows, so that the first frame of a transition had black in its place.
   */
  async paintAhead(): Promise<void> {
    this.element.classList.add('ahead');
    // One frame takes it, the next begins after it was painted
    await Promise.race([nextFrame().then(nextFrame), after(PAINT_AHEAD_MS)]);
    this.element.classList.remove('ahead');
  }

  /** Reports no failure any more: those of the view that takes its place have the same ids. */
  hush(): void {
    for (const view of this.views.values()) view.hush();
  }

  close(): void {
    for (const view of this.views.values()) view.close();
    this.views.clear();
    this.element.className = 'closing';
    const {bus} = this;
    // After its voices, which wait for theirs
    bus.afterFade(() => bus.afterFade(() => {
      this.element.remove();
      bus.close();
    }));
  }

  private draw(animations: LayerAnimations): void {
    const now = drawnOf(this.layout);
    const {gone, added, changed} = difference(this.drawn, now);
    this.drawn = now;
    for (const each of added) {
      const {id} = each.layer;
      const old = this.views.get(id);
      old?.hush();
      const view = new LayerView(each, this.context);
      this.views.set(id, view);
      this.put(each, view);
      if (old) this.rescue(id, now);
      old?.close();
      view.setWanted(this.wanted);
      view.setOnAir(this.onAir);
    }
    for (const {after: each} of changed) {
      const view = this.views.get(each.layer.id);
      if (!view) continue;
      this.put(each, view);
      view.update(each, animations.get(each.layer.id));
    }
    // What is in a layer fades out before that goes
    for (const id of [...gone].reverse()) {
      if (now.has(id)) continue;
      this.views.get(id)?.close();
      this.views.delete(id);
    }
  }

  private put(drawn: Drawn, view: LayerView): void {
    view.putInto((drawn.parent === null ? null : this.views.get(drawn.parent)) ?? null, this.inside);
  }

  /** Takes the children of a layer that has become another type along to its new view. */
  private rescue(parent: string, now: ReadonlyMap<string, Drawn>): void {
    for (const [id, drawn] of now) {
      const view = this.views.get(id);
      if (drawn.parent === parent && view) this.put(drawn, view);
    }
  }

  /** A layout of another shape than the canvas is as large as it fits, in the middle. */
  private fit(canvas: Scene['canvas']): void {
    const {width, height} = this.layout, {style} = this.inside;
    const scale = Math.min(canvas.width / width, canvas.height / height);
    style.width = `${width}px`;
    style.height = `${height}px`;
    const x = (canvas.width - width * scale) / 2, y = (canvas.height - height * scale) / 2;
    style.transform = scale === 1 && x === 0 && y === 0 ? '' : `translate(${x}px, ${y}px) scale(${scale})`;
  }
}
