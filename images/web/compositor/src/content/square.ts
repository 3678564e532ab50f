/** A rectangle of one colour, as large as the layout where it has no size. */

import {AT_ONCE, type Content, type ContentContext} from './content';
import type {Layer} from '../state/layer';
import {textAt} from '../state/json';

export function square(layer: Layer, {layout, fail}: ContentContext): Content {
  const element = document.createElement('div');
  const update = (now: Layer): void => {
    element.style.width = now.width === null ? `${layout.width}px` : '100%';
    element.style.height = now.height === null ? `${layout.height}px` : '100%';
    const color = textAt(now.data, 'backgroundColor');
    const known = color === null || CSS.supports('color', color);
    element.style.backgroundColor = known ? color ?? 'transparent' : 'transparent';
    fail(known ? null : `not a CSS colour: ${color}`);
  };
  update(layer);
  return {element, ready: AT_ONCE, update, close: () => undefined};
}
