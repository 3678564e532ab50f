/** Which of its transitions a layout comes by. Pure. */

import {CUT, type Transition} from '../state/transition';

/**
 * A transition that names the layout it comes from is preferred to those that name none; of several one at random.
 *
 * @param random - a number from 0 up to 1.
 */
export function choose(transitions: readonly Transition[], fromId: string | null, random: () => number): Transition {
  if (fromId === null) return CUT;
  const named = transitions.filter(each => each.fromLayoutIds.includes(fromId));
  const matching = named.length ? named : transitions.filter(each => !each.fromLayoutIds.length);
  return matching[Math.floor(random() * matching.length)] ?? CUT;
}
