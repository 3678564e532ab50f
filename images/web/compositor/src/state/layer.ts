/** A layer as it is drawn. Pixels are of its parent, degrees clockwise. */

import {array, isObject, number, numberOrNull, type JsonObject} from './json';

export interface Layer {
  readonly id: string;
  readonly type: string;
  /** Layers on top of this one, last on top; some may not exist. */
  readonly children: readonly string[];
  readonly x: number;
  readonly y: number;
  /** null is natural. */
  readonly width: number | null;
  readonly height: number | null;
  readonly scale: number;
  readonly rotation: number;
  readonly opacity: number;
  readonly hidden: boolean;
  readonly data: JsonObject;
}

const PIXELS = 10_000;

/** A layer of a message, within the bounds of the interface; null where it has no id. */
export function layerOf(value: unknown): Layer | null {
  if (!isObject(value) || typeof value['id'] !== 'string' || value['id'] === '') return null;
  return {
    id: value['id'],
    type: typeof value['type'] === 'string' ? value['type'] : '',
    children: array(value['children']).filter(child => typeof child === 'string'),
    x: number(value['x'], -PIXELS, PIXELS, 0),
    y: number(value['y'], -PIXELS, PIXELS, 0),
    width: numberOrNull(value['width'], 0, PIXELS),
    height: numberOrNull(value['height'], 0, PIXELS),
    scale: number(value['scale'], 0, 4, 1),
    rotation: number(value['rotation'], -360, 360, 0),
    opacity: number(value['opacity'], 0, 1, 1),
    hidden: value['hidden'] === true,
    data: isObject(value['data']) ? value['data'] : {},
  };
}

/** Layers by id; of two with the same id the last counts. */
export function layersOf(value: unknown): Map<string, Layer> {
  const layers = new Map<string, Layer>();
  for (const each of array(value)) {
    const layer = layerOf(each);
    if (layer) layers.set(layer.id, layer);
  }
  return layers;
}

/** Whether both are drawn alike, whatever their children. */
export function sameLooks(one: Layer, other: Layer): boolean {
  return one === other || JSON.stringify({...one, children: 0}) === JSON.stringify({...other, children: 0});
}
