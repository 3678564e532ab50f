/** All that is to be drawn, as messages of the agent make it. Pure: every change is a new scene. */

import {array, at, isObject, number, textAt} from './json';
import {layersOf, sameLooks, type Layer} from './layer';
import {transitionsOf, type Transition} from './transition';
import type {LayersChange} from './agent_message';

export interface Layout {
  readonly id: string;
  readonly version: number;
  readonly type: 'SCENE' | 'SCENELESS';
  readonly width: number;
  readonly height: number;
  readonly transitions: readonly Transition[];
  readonly layers: ReadonlyMap<string, Layer>;
}

export interface Scene {
  readonly canvas: {readonly width: number; readonly height: number};
  readonly selectedLayoutId: string | null;
  readonly debug: boolean;
  readonly targetLatencyMs: number;
  /** What the room is joined with; null where there is none, undefined while that is not known. */
  readonly room: {readonly url: string; readonly token: string} | null | undefined;
  readonly layouts: ReadonlyMap<string, Layout>;
}

const MAX_PIXELS = 10_000;
const NEWEST = Number.MAX_SAFE_INTEGER;

/** The scene of a `state` message. */
export function sceneOf(message: unknown): Scene {
  const canvas = {
    width: number(at(message, 'canvas', 'width'), 1, MAX_PIXELS, 1280),
    height: number(at(message, 'canvas', 'height'), 1, MAX_PIXELS, 720),
  };
  const layouts = new Map<string, Layout>();
  for (const each of array(at(message, 'layouts'))) {
    const id = textAt(each, 'id');
    if (!isObject(each) || id === null) continue;
    layouts.set(id, {
      id,
      version: number(each['version'], 0, NEWEST, 0),
      type: textAt(each, 'type')?.endsWith('SCENELESS') ? 'SCENELESS' : 'SCENE',
      width: number(each['width'] || canvas.width, 1, MAX_PIXELS, canvas.width),
      height: number(each['height'] || canvas.height, 1, MAX_PIXELS, canvas.height),
      transitions: transitionsOf(each['transitions']),
      layers: layersOf(each['layers']),
    });
  }
  const url = textAt(message, 'room', 'url'), token = textAt(message, 'room', 'token');
  return {
    canvas,
    selectedLayoutId: textAt(message, 'selectedLayoutId'),
    debug: at(message, 'debug') === true,
    targetLatencyMs: number(at(message, 'targetLatencyMs'), 100, 5000, 500),
    room: url && token ? {url, token} : at(message, 'roomKnown') === true ? null : undefined,
    layouts,
  };
}

/** A new state after the scene that is drawn: layers that look the same stay the same objects. */
export function following(before: Scene | null, after: Scene): Scene {
  const layouts = new Map<string, Layout>();
  for (const layout of after.layouts.values()) {
    const known = before?.layouts.get(layout.id);
    layouts.set(layout.id, known ? {...layout, layers: kept(known.layers, layout.layers)} : layout);
  }
  return {...after, layouts};
}

/** The scene after a change of layers; the same one where it is not newer, or of a layout that is not here. */
export function changed(before: Scene, change: LayersChange): Scene {
  const layout = before.layouts.get(change.layoutId);
  if (!layout || change.version <= layout.version) return before;
  const layers = new Map(layout.layers);
  for (const layer of change.upsert) layers.set(layer.id, layer);
  for (const id of change.remove) layers.delete(id);
  const layouts = new Map(before.layouts);
  layouts.set(layout.id, {...layout, version: change.version, layers: kept(layout.layers, layers)});
  return {...before, layouts};
}

function kept(before: ReadonlyMap<string, Layer>, after: ReadonlyMap<string, Layer>): ReadonlyMap<string, Layer> {
  const layers = new Map<string, Layer>();
  for (const [id, layer] of after) {
    const known = before.get(id);
    const same = known && sameLooks(known, layer) && known.children.join('\n') === layer.children.join('\n');
    layers.set(id, same ? known : layer);
  }
  const same = layers.size === before.size && [...layers].every(([id, layer]) => before.get(id) === layer);
  return same ? before : layers;
}
