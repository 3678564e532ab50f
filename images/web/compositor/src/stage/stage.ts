/** What is on air: the selected layout, the way to it from the one before, and layouts that may come next, loaded ahead. */

import type {LayerAnimations} from '../motion/animations';
import type {Layout, Scene} from '../state/scene';
import {CUT, type Transition} from '../state/transition';
import {choose} from '../transition/choice';
import {keyframesOf} from '../transition/keyframes';
import {cut, run, type Running} from '../transition/running';
import {Stingers} from '../transition/stinger';
import {SceneView, type Context} from './scene_view';
import {after} from './waiting';

/** How long a switch waits for the new layout's layers, so that they do not appear one by one. */
const SWITCH_WAIT_MS = 700;
const LOADED_AHEAD = 8;
const NO_ANIMATIONS: LayerAnimations = new Map();

export class Stage {
  readonly element = Object.assign(document.createElement('div'), {className: 'stage'});
  private readonly views = new Map<string, SceneView>();
  private readonly stingers: Stingers;
  private scene: Scene | null = null;
  private onAir: SceneView | null = null;
  private running: Running | null = null;
  private wanted: string | null = null;
  private switches = 0;

  constructor(private readonly context: Context, private readonly random: () => number = Math.random) {
    this.stingers = new Stingers(context.mixer, this.element);
  }

  /** Draws a scene; animations are of what changed in one of its layouts. */
  async update(scene: Scene, layoutId: string | null = null, animations: LayerAnimations = NO_ANIMATIONS): Promise<void> {
    this.scene = scene;
    this.element.style.width = `${scene.canvas.width}px`;
    this.element.style.height = `${scene.canvas.height}px`;
    this.context.sources.setTargetLatency(scene.targetLatencyMs);
    this.context.room.setAccess(scene.room);
    for (const [id, view] of this.views) {
      const layout = scene.layouts.get(id);
      if (layout && view.suits(layout)) view.update(layout, scene.canvas, id === layoutId ? animations : NO_ANIMATIONS);
      else if (layout && view === this.onAir) this.replace(view, layout, scene);
    }
    const target = this.targetOf(scene);
    if (target !== this.wanted) await this.select(target);
    this.loadAhead();
  }

  /** A selected layout that is not there, or no more, or not yet, leaves on air what is, though its own may be gone, too. */
  private targetOf({selectedLayoutId, layouts}: Scene): string | null {
    if (selectedLayoutId === null) return null;
    return [selectedLayoutId, this.wanted].find(id => id !== null && layouts.has(id)) ?? this.onAir?.id ?? null;
  }

  private async select(id: string | null): Promise<void> {
    this.wanted = id;
    const mine = ++this.switches;
    const layout = id === null ? null : this.scene?.layouts.get(id);
    // It is what is on air, and stays
    if (layout === undefined) return;
    if (layout === null) {
      this.running?.finish();
      await this.running?.done;
      if (mine === this.switches) this.goTo(null);
      return;
    }
    let target = this.view(layout);
    target.setWanted(true);
    if (this.onAir) await Promise.race([target.ready, after(SWITCH_WAIT_MS)]);
    if (mine !== this.switches) return;
    this.running?.finish();
    await this.running?.done;
    if (mine !== this.switches || !this.scene) return;
    const transition = this.transitionTo(target);
    if (target !== this.onAir && keyframesOf(transition)) await target.paintAhead();
    if (mine !== this.switches) return;
    target = this.view(this.scene.layouts.get(layout.id) ?? layout);
    this.goTo(target, transition);
    if (!this.running) await Promise.race([target.ready, after(0)]);
  }

  /** Resolved once what is selected is there, or given up. */
  async ready(): Promise<void> {
    await this.onAir?.ready;
  }

  private transitionTo(target: SceneView): Transition {
    const transitions = this.scene?.layouts.get(target.id)?.transitions ?? [];
    return choose(transitions, this.onAir?.id ?? null, this.random);
  }

  private goTo(target: SceneView | null, transition: Transition = CUT): void {
    const before = this.onAir;
    if (target === before) return;
    this.onAir = target;
    let running: Running | null = null;
    if (before && target) {
      const keyframes = keyframesOf(transition);
      if (keyframes) running = run(keyframes, before, target, this.element);
      else if (transition.kind === 'stinger') running = this.stingers.run(transition, before, target);
    }
    if (!running) {
      cut(before, target);
      this.tidy();
      return;
    }
    this.running = running;
    void running.done.then(() => {
      if (this.running === running) this.running = null;
      this.tidy();
    });
  }

  private view(layout: Layout): SceneView {
    const {scene} = this;
    let view = this.views.get(layout.id);
    if (!view || (!view.suits(layout) && view !== this.onAir)) {
      if (view) this.close(view);
      view = new SceneView(layout, scene?.canvas ?? layout, this.context);
      this.views.set(layout.id, view);
      this.element.append(view.element);
    }
    return view;
  }

  /** One that may be on its way off stays until it has gone. */
  private close(view: SceneView): void {
    view.hush();
    if (this.running) void this.running.done.then(() => view.close());
    else view.close();
  }

  /** A layout on air whose size has changed is drawn again. */
  private replace(view: SceneView, layout: Layout, scene: Scene): void {
    this.running?.finish();
    view.hush();
    const fresh = new SceneView(layout, scene.canvas, this.context);
    this.views.set(layout.id, fresh);
    this.element.append(fresh.element);
    this.onAir = fresh;
    cut(view, fresh);
    view.close();
  }

  /** Layouts that can be switched to, as far as they fit into memory; the agent gives the likeliest first. */
  private ahead(): Layout[] {
    const {scene} = this;
    if (!scene) return [];
    return [...scene.layouts.values()].filter(each => each.type === 'SCENE' && each.id !== this.wanted).slice(0, LOADED_AHEAD);
  }

  private loadAhead(): void {
    const ahead = this.ahead();
    for (const layout of ahead) this.view(layout);
    this.stingers.want([...(this.scene?.layouts.values() ?? [])].flatMap(each => each.transitions));
    this.tidy();
  }

  /** Takes down what is neither on air, nor on its way off, nor loaded ahead. */
  private tidy(): void {
    if (this.running) return;
    const kept = new Set([this.onAir?.id, this.wanted, ...this.ahead().map(each => each.id)]);
    for (const [id, view] of this.views) {
      view.setWanted(view === this.onAir || id === this.wanted);
      if (kept.has(id) && (this.scene?.layouts.has(id) ?? false)) continue;
      if (view === this.onAir) continue;
      view.close();
      this.views.delete(id);
    }
  }
}
