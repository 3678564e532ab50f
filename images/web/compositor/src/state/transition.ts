/** How a layout replaces another, as the interface names it; what is unknown is a cut. */

import {array, at, number, textAt} from './json';

export type Direction = 'LEFT' | 'RIGHT' | 'UP' | 'DOWN';
export type SwipeType = 'COMBINED' | 'SOURCE' | 'DESTINATION';

export type Transition = {readonly fromLayoutIds: readonly string[]} & (
  | {readonly kind: 'cut'}
  | {readonly kind: 'crossfade'; readonly durationMs: number}
  | {readonly kind: 'fadeToColor'; readonly durationMs: number; readonly color: string}
  | {readonly kind: 'swipe'; readonly durationMs: number; readonly direction: Direction; readonly moves: SwipeType}
  | {readonly kind: 'stinger'; readonly cutPointMs: number; readonly url: string; readonly volume: number}
);

export const CUT: Transition = {kind: 'cut', fromLayoutIds: []};
const LONGEST_MS = 30_000;

export function transitionsOf(value: unknown): Transition[] {
  return array(value).map(transitionOf);
}

function transitionOf(value: unknown): Transition {
  const fromLayoutIds = array(at(value, 'fromLayoutIds')).filter(id => typeof id === 'string');
  const durationMs = (kind: string): number => number(at(value, kind, 'durationMs'), 0, LONGEST_MS, 0);
  if (at(value, 'crossfade')) return {fromLayoutIds, kind: 'crossfade', durationMs: durationMs('crossfade')};
  if (at(value, 'fadeToColor')) {
    const color = textAt(value, 'fadeToColor', 'backgroundColor') ?? '#000';
    return {fromLayoutIds, kind: 'fadeToColor', durationMs: durationMs('fadeToColor'), color};
  }
  if (at(value, 'swipe')) {
    const direction = member(at(value, 'swipe', 'direction'), 'TRANSITION_DIRECTION_', ['LEFT', 'RIGHT', 'UP', 'DOWN'] as const);
    const moves = member(
      at(value, 'swipe', 'combinedAnimation'), 'TRANSITION_SWIPE_TYPE_', ['COMBINED', 'SOURCE', 'DESTINATION'] as const);
    return {fromLayoutIds, kind: 'swipe', durationMs: durationMs('swipe'), direction, moves};
  }
  const url = textAt(value, 'stinger', 'cut', 'media', 'url');
  if (url) {
    const cut = at(value, 'stinger', 'cut');
    const cutPointMs = number(at(cut, 'cutPointMs'), 0, LONGEST_MS, 0);
    return {fromLayoutIds, kind: 'stinger', cutPointMs, url, volume: number(at(cut, 'media', 'volume'), 0, 1, 1)};
  }
  return {...CUT, fromLayoutIds};
}

/** A value of an enumeration without its prefix; the first where it is unknown. */
function member<Name extends string>(value: unknown, prefix: string, names: readonly [Name, ...Name[]]): Name {
  return names.find(name => value === prefix + name || value === name) ?? names[0];
}
