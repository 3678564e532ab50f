/** One layer on the page, and where its children go. */

import type {Content, ContentContext} from '../content/content';
import {LAYER_TYPES} from '../content/layer_types';
import type {Animation} from '../motion/animations';
import {Player} from '../motion/player';
import type {Voice} from '../sound/mixer';
import type {Drawn} from '../state/drawn';
import {sameLooks, type Layer} from '../state/layer';

const NO_ANIMATIONS: readonly Animation[] = [];

/** All that a view gives to its content; the voice comes from the view itself. */
export type ViewContext = Omit<ContentContext, 'voice' | 'fail'> & {readonly fail: (layerId: string, reason: string | null) => void};

export class LayerView {
  readonly element = div('layer');
  private readonly placed = div('placed');
  private readonly box = div('box');
  private readonly player = new Player({layer: this.element, placed: this.placed, box: this.box});
  private readonly content: Content | null;
  private voice: Voice | null = null;
  private parent: LayerView | null = null;
  private readonly inside = new Set<LayerView>();
  private hushed = false;

  constructor(private drawn: Drawn, private readonly context: ViewContext) {
    this.element.append(this.placed);
    this.placed.append(this.box);
    this.element.dataset['layer'] = drawn.layer.id;
    this.player.place(drawn.layer);
    const {layer} = drawn;
    this.content = this.made(layer);
    if (this.content?.element) {
      this.content.element.classList.add('content');
      this.box.append(this.content.element);
    }
    this.arrange(drawn);
  }

  get ready(): Promise<void> {
    return this.content?.ready ?? Promise.resolve();
  }

  /** Shows the layer as it is now; what has animations goes there, the rest is there at once. */
  update(after: Drawn, animations = NO_ANIMATIONS): void {
    const {layer} = this.drawn;
    if (layer !== after.layer) {
      this.player.move(layer, after.layer, animations, () => {
        if (!sameLooks(layer, after.layer)) this.guarded(() => this.content?.update(after.layer));
      });
    }
    this.arrange(after);
  }

  /** Puts it into its parent's box; a frame in it does not load again. */
  putInto(parent: LayerView | null, root: HTMLElement): void {
    const target = parent?.box ?? root;
    this.parent?.inside.delete(this);
    this.parent = parent;
    parent?.inside.add(this);
    if (this.element.parentElement === target) return;
    if (this.element.isConnected && target.isConnected) target.moveBefore(this.element, null);
    else target.append(this.element);
  }

  setWanted(wanted: boolean): void {
    this.guarded(() => this.content?.setWanted?.(wanted));
  }

  setOnAir(onAir: boolean): void {
    this.content?.setOnAir?.(onAir);
  }

  /** Reports no failure any more: those of the view that takes its place have the same id. */
  hush(): void {
    this.fail(null);
    this.hushed = true;
  }

  close(): void {
    this.hush();
    this.element.className = 'closing';
    const end = (): void => {
      this.content?.close();
      this.element.remove();
      this.parent?.inside.delete(this);
    };
    this.voice?.close();
    // A video that is taken out of the page falls silent with a click
    if (this.isHeard) this.context.bus.afterFade(end);
    else end();
  }

  /** Whether it has a voice, or a layer in it. */
  private get isHeard(): boolean {
    return this.voice !== null || [...this.inside].some(view => view.isHeard);
  }

  private made(layer: Layer): Content | null {
    const type = LAYER_TYPES.get(layer.type);
    return (type && this.guarded(() => type(layer, this.contentContext()))) ?? null;
  }

  /** A layer that fails in a way that nobody foresaw takes no other with it. */
  private guarded<Made>(draw: () => Made): Made | null {
    try {
      return draw();
    } catch (error) {
      this.fail(`it could not be drawn: ${String(error)}`);
      return null;
    }
  }

  private fail(reason: string | null): void {
    if (!this.hushed) this.context.fail(this.drawn.layer.id, reason);
  }

  private arrange(after: Drawn): void {
    this.drawn = after;
    this.element.style.zIndex = String(after.order);
    this.element.classList.toggle('hidden', after.hidden);
    this.voice?.setMuted(after.hidden);
    this.content?.setHidden?.(after.hidden);
  }

  private contentContext(): ContentContext {
    const {context} = this;
    return {
      ...context,
      voice: () => {
        this.voice ??= context.bus.voice(this.drawn.layer.id);
        this.voice.setMuted(this.drawn.hidden);
        return this.voice;
      },
      fail: reason => this.fail(reason),
    };
  }
}

function div(name: string): HTMLElement {
  return Object.assign(document.createElement('div'), {className: name});
}
