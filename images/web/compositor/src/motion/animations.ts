/** Animations that came with a change, and when each begins. Pure. */

import {array, at, number, textAt} from '../state/json';

export const CHANNELS = ['x', 'y', 'width', 'height', 'scale', 'rotation', 'opacity'] as const;
export type Channel = (typeof CHANNELS)[number];

/** When and how a value goes to its new one; from the moment the change arrives. */
export interface Timing {
  readonly delayMs: number;
  readonly durationMs: number;
  /** As CSS names it. */
  readonly easing: string;
}

export interface Animation extends Timing {
  readonly channels: ReadonlySet<Channel>;
}

/** Animations by layer, in the order in which they were given. */
export type LayerAnimations = ReadonlyMap<string, readonly Animation[]>;

const LONGEST_MS = 30_000;
const EMPTY: LayerAnimations = new Map();

/**
 * Animations of a message. In series a layer's animations begin when those of the layer before it have ended; a layer may
 * be there more than once.
 */
export function seriesOf(value: unknown): LayerAnimations {
  const layers = array(at(value, 'layers'));
  if (!layers.length) return EMPTY;
  const inSeries = textAt(value, 'mode')?.endsWith('SERIES') ?? false;
  const found = new Map<string, Animation[]>();
  let beginMs = 0;
  for (const each of layers) {
    const id = textAt(each, 'id');
    if (id === null) continue;
    const animations = array(at(each, 'requestAnimation')).map(animation => animationOf(animation, beginMs));
    found.set(id, [...(found.get(id) ?? []), ...animations]);
    if (inSeries) beginMs = Math.max(beginMs, ...animations.map(({delayMs, durationMs}) => delayMs + durationMs));
  }
  return found;
}

function animationOf(value: unknown, beginMs: number): Animation {
  const names = array(at(value, 'properties'));
  return {
    channels: new Set(names.includes('*') ? CHANNELS : CHANNELS.filter(channel => names.includes(channel))),
    delayMs: beginMs + number(at(value, 'delayMs'), 0, LONGEST_MS, 0),
    durationMs: number(at(value, 'durationMs'), 0, LONGEST_MS, 0),
    easing: textAt(value, 'easingMode') ?? 'linear',
  };
}

/** How a property of a layer is animated: by the last animation that names it; null means at once. */
export function timingOf(animations: readonly Animation[], channel: Channel): Timing | null {
  const found = animations.findLast(animation => animation.channels.has(channel));
  return found && found.delayMs + found.durationMs > 0 ? found : null;
}
