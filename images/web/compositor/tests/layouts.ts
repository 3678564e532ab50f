/** Layouts and messages as the agent sends them. */

import type {Layout, Scene} from '../src/state/scene';
import {sceneOf} from '../src/state/scene';

export type Given = Record<string, unknown>;

export function layer(id: string, given: Given = {}): Given {
  return {id, type: 'square', children: [], x: 0, y: 0, width: 10, height: 10, scale: 1, rotation: 0, opacity: 1, hidden: false, data: {}, ...given};
}

export function root(...children: string[]): Given {
  return layer('root', {type: 'root', children, width: null, height: null});
}

export function layout(layers: Given[], given: Given = {}): Given {
  return {id: 'one', version: 1, type: 'SCENE', width: 320, height: 180, transitions: [], layers, ...given};
}

export function scene(...layouts: Given[]): Scene {
  return sceneOf({canvas: {width: 320, height: 180}, selectedLayoutId: 'one', targetLatencyMs: 500, layouts});
}

export function only(drawn: Scene): Layout {
  const [found] = drawn.layouts.values();
  if (!found) throw new Error('no layout');
  return found;
}
