/** What moves in a transition. Pure; times are parts of the duration. */

import type {Direction, Transition} from '../state/transition';

/** Keyframes as Web Animations take them. */
export type Keyframes = {readonly offset: number; readonly opacity?: number; readonly translate?: string}[];

/** Loudness over the duration: linear from point to point. */
export type Loudness = readonly {readonly offset: number; readonly gain: number}[];

/** Loudness at a part of the duration; before and after it the first and the last. */
export function loudnessAt(points: Loudness, part: number): number {
  const after = points.findIndex(each => each.offset > part), to = points[after], from = points[after - 1];
  if (!to) return points.at(-1)?.gain ?? 0;
  return from ? from.gain + (to.gain - from.gain) * (part - from.offset) / (to.offset - from.offset) : to.gain;
}

export interface TransitionKeyframes {
  readonly durationMs: number;
  readonly onTop: 'incoming' | 'outgoing';
  readonly incoming: Keyframes;
  readonly outgoing: Keyframes;
  /** A colour over both. */
  readonly cover: {readonly color: string; readonly keyframes: Keyframes} | null;
  readonly sound: {readonly incoming: Loudness; readonly outgoing: Loudness};
}

const WAY: Record<Direction, readonly [number, number]> = {LEFT: [-1, 0], RIGHT: [1, 0], UP: [0, -1], DOWN: [0, 1]};
const IN: Loudness = [{offset: 0, gain: 0}, {offset: 1, gain: 1}];
const OUT: Loudness = [{offset: 0, gain: 1}, {offset: 1, gain: 0}];

/** The keyframes of a transition by time; null for a cut, and for a stinger, which goes by its media. */
export function keyframesOf(transition: Transition): TransitionKeyframes | null {
  if (!('durationMs' in transition) || transition.durationMs <= 0) return null;
  const {durationMs} = transition;
  const still = {durationMs, incoming: [], outgoing: [], cover: null, sound: {incoming: IN, outgoing: OUT}};
  switch (transition.kind) {
    case 'crossfade':
      return {...still, onTop: 'incoming', incoming: [{offset: 0, opacity: 0}, {offset: 1, opacity: 1}]};
    case 'fadeToColor': {
      const keyframes = [{offset: 0, opacity: 0}, {offset: 0.5, opacity: 1}, {offset: 1, opacity: 0}];
      const at = (offset: number, opacity: number): Keyframes[number] => ({offset, opacity});
      return {
        ...still,
        onTop: 'incoming',
        incoming: [at(0, 0), at(0.5, 0), at(0.5, 1), at(1, 1)],
        cover: {color: transition.color, keyframes},
        sound: {
          incoming: [{offset: 0, gain: 0}, {offset: 0.5, gain: 0}, {offset: 1, gain: 1}],
          outgoing: [{offset: 0, gain: 1}, {offset: 0.5, gain: 0}, {offset: 1, gain: 0}],
        },
      };
    }
    case 'swipe': {
      const [x, y] = WAY[transition.direction];
      const here = '0% 0%', ahead = `${x * 100}% ${y * 100}%`, behind = `${-x * 100}% ${-y * 100}%`;
      const arrives = [{offset: 0, translate: behind}, {offset: 1, translate: here}];
      const leaves = [{offset: 0, translate: here}, {offset: 1, translate: ahead}];
      switch (transition.moves) {
        case 'COMBINED': return {...still, onTop: 'incoming', incoming: arrives, outgoing: leaves};
        case 'SOURCE': return {...still, onTop: 'outgoing', outgoing: leaves};
        case 'DESTINATION': return {...still, onTop: 'incoming', incoming: arrives};
      }
    }
  }
}
