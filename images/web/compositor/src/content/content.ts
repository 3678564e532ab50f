/** What a layer shows and plays, by its type. */

import type {Bus, Voice} from '../sound/mixer';
import type {Layer} from '../state/layer';
import type {LiveSources} from './live_sources';
import type {Room} from '../room/room';

export interface Content {
  /** Fills the layer's box; null where nothing is drawn. */
  readonly element: HTMLElement | null;
  /** Resolved once it is there, or given up. */
  readonly ready: Promise<void>;
  update(layer: Layer): void;
  /** Whether its layout is on air, or is being switched to: live content is only taken then. */
  setWanted?(wanted: boolean): void;
  /** Whether its layout is seen. */
  setOnAir?(onAir: boolean): void;
  /** Whether the layer, or one that it is in, is hidden. */
  setHidden?(hidden: boolean): void;
  close(): void;
}

/** What a layer's content is given to work with. */
export interface ContentContext {
  readonly layout: {readonly width: number; readonly height: number};
  readonly sources: LiveSources;
  readonly room: Room;
  readonly bus: Bus;
  /** A voice of this layer, which is muted along with it. */
  voice(): Voice;
  /** Tells that it cannot be shown and why, or null that it is. */
  fail(reason: string | null): void;
}

export type LayerType = (layer: Layer, context: ContentContext) => Content;

export const AT_ONCE = Promise.resolve();

/** A promise that is resolved from elsewhere. */
export class Readiness {
  readonly promise: Promise<void>;
  resolve: () => void = () => undefined;

  constructor() {
    this.promise = new Promise(resolve => {
      this.resolve = resolve;
    });
  }
}

/** Gives an element the size of its box, or its natural one. */
export function sized(element: HTMLElement, layer: Layer): void {
  element.style.width = layer.width === null ? 'auto' : '100%';
  element.style.height = layer.height === null ? 'auto' : '100%';
}
