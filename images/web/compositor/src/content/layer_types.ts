/** Layer types that draw something; other types only have children. */

import type {LayerType} from './content';
import {image} from './image';
import {source} from './source';
import {square} from './square';
import {text} from './text';
import {video} from './video';
import {webpage} from './webpage';
import {webrtc} from './webrtc';

export const LAYER_TYPES: ReadonlyMap<string, LayerType> = new Map(Object.entries({image, source, square, text, video, webpage, webrtc}));
