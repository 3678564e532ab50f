/** How media go into a box of another shape. */

import type {Layer} from '../state/layer';
import {textAt} from '../state/json';

const FITS = ['fill', 'contain', 'cover'] as const;
export type Fit = (typeof FITS)[number];

/** `data.fit`, or what the browser does with this kind of media. */
export function fitOf(layer: Layer, otherwise: Fit): Fit {
  const wanted = textAt(layer.data, 'fit');
  return FITS.find(fit => fit === wanted) ?? otherwise;
}
