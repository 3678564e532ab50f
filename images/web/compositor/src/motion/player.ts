/** Brings the properties of one layer to their values, at once or by Web Animations: each property by an animation of its own. */

import {timingOf, type Animation, type Channel, type Timing} from './animations';
import type {Layer} from '../state/layer';

export interface Elements {
  /** Moves to the left and to the right. */
  readonly layer: HTMLElement;
  /** Moves up and down; scaled from its top left corner. */
  readonly placed: HTMLElement;
  /** Has the size, and turns about its centre. */
  readonly box: HTMLElement;
}

type Value = number | null;

interface Property {
  readonly element: keyof Elements;
  readonly css: 'translate' | 'scale' | 'opacity' | 'rotate' | 'width' | 'height';
  readonly text: (value: number) => string;
  /** The number in a computed value. */
  readonly read: (computed: string, element: HTMLElement) => number;
}

const PROPERTIES: Record<Channel, Property> = {
  x: {element: 'layer', css: 'translate', text: x => `${x}px 0px`, read: text => numbers(text)[0] ?? 0},
  y: {element: 'placed', css: 'translate', text: y => `0px ${y}px`, read: text => numbers(text)[1] ?? 0},
  scale: {element: 'placed', css: 'scale', text: String, read: text => numbers(text)[0] ?? 1},
  opacity: {element: 'placed', css: 'opacity', text: String, read: Number},
  rotation: {element: 'box', css: 'rotate', text: degrees => `${degrees}deg`, read: text => numbers(text)[0] ?? 0},
  width: {element: 'box', css: 'width', text: pixels => `${pixels}px`, read: (_, element) => element.offsetWidth},
  height: {element: 'box', css: 'height', text: pixels => `${pixels}px`, read: (_, element) => element.offsetHeight},
};

function numbers(text: string): number[] {
  return text.split(' ').map(parseFloat).filter(Number.isFinite);
}

export class Player {
  private readonly running = new Map<Channel, globalThis.Animation>();

  constructor(private readonly elements: Elements) {}

  /** Shows a layer as it is now. */
  place(layer: Layer): void {
    for (const channel of Object.keys(PROPERTIES) as Channel[]) this.set(channel, layer[channel]);
  }

  /**
   * Goes from one state of the layer to the next; what moves already goes on from where it is.
   *
   * @param change - changes the content in between: of a natural size it decides where the way begins and ends.
   */
  move(before: Layer, after: Layer, animations: readonly Animation[], change: () => void): void {
    const ways = (Object.keys(PROPERTIES) as Channel[]).filter(channel => before[channel] !== after[channel])
      .map(channel => ({channel, timing: timingOf(animations, channel)}))
      .map(way => ({...way, from: way.timing ? this.now(way.channel) : 0}));
    change();
    for (const {channel, timing, from} of ways) {
      this.set(channel, after[channel]);
      if (timing) this.animate(channel, from, after[channel], timing);
    }
  }

  private set(channel: Channel, value: Value): void {
    this.running.get(channel)?.cancel();
    this.running.delete(channel);
    const {element, css, text} = PROPERTIES[channel];
    this.elements.box.classList.remove(`moving-${css}`);
    this.elements[element].style[css] = value === null ? 'auto' : text(value);
  }

  private animate(channel: Channel, from: number, value: Value, {delayMs, durationMs, easing}: Timing): void {
    const {element, css, text} = PROPERTIES[channel];
    const frames = [{[css]: text(from)}, {[css]: text(this.now(channel))}];
    const animation = this.elements[element].animate(
      frames, {duration: durationMs, delay: delayMs, fill: 'backwards', easing: CSS.supports('animation-timing-function', easing) ? easing : 'linear'});
    animation.id = channel;
    this.running.set(channel, animation);
    // Content of a natural size goes along with its box, until it has it
    if (css === 'width' || css === 'height') this.elements.box.classList.add(`moving-${css}`);
    animation.onfinish = () => {
      if (this.running.get(channel) === animation) this.set(channel, value);
    };
  }

  private now(channel: Channel): number {
    const {element, css, read} = PROPERTIES[channel];
    return read(getComputedStyle(this.elements[element])[css], this.elements[element]);
  }
}
