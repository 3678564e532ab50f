/** Messages of the agent; what is none of them is ignored. */

import {array, at, isObject, number, textAt} from './json';
import {layersOf, type Layer} from './layer';
import {sceneOf, type Scene} from './scene';
import {seriesOf, type LayerAnimations} from '../motion/animations';

/** A change of one layout's layers. */
export interface LayersChange {
  readonly layoutId: string;
  readonly version: number;
  readonly upsert: readonly Layer[];
  readonly remove: readonly string[];
  readonly animation: LayerAnimations;
}

export type AgentMessage =
  | {readonly type: 'state'; readonly scene: Scene}
  | {readonly type: 'layers'; readonly change: LayersChange};

export function messageOf(text: string): AgentMessage | null {
  const value = parsed(text);
  if (!isObject(value)) return null;
  if (value['type'] === 'state') return {type: 'state', scene: sceneOf(value)};
  const layoutId = textAt(value, 'layoutId');
  if (value['type'] !== 'layers' || layoutId === null) return null;
  return {
    type: 'layers',
    change: {
      layoutId,
      version: number(value['version'], 0, Number.MAX_SAFE_INTEGER, 0),
      upsert: [...layersOf(value['upsert']).values()],
      remove: array(value['remove']).filter(id => typeof id === 'string'),
      animation: seriesOf(at(value, 'animation')),
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
