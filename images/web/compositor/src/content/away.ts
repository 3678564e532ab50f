/** What stands for a live picture while there is none: `onDisconnect` slate, hide or remain. */

import {image} from './image';
import {sized, type Content, type Surroundings} from './content';
import type {Layer} from '../state/layer';
import {textAt} from '../state/json';

export type OnDisconnect = 'slate' | 'hide' | 'remain';

/** Without a wish, or with one that is unknown: the slate if there is one. */
export function onDisconnectOf(layer: Layer): OnDisconnect {
  const wanted = textAt(layer.data, 'onDisconnect'), slate = textAt(layer.data, 'disconnectedSlate', 'url');
  if (wanted === 'remain' || wanted === 'hide') return wanted;
  return slate === null ? 'hide' : 'slate';
}

/** A video element, and in front of it the slate. */
export class LivePicture {
  readonly element = document.createElement('div');
  readonly video = Object.assign(document.createElement('video'), {autoplay: true, muted: true, playsInline: true});
  private slate: Content | null = null;
  private connected = false;

  constructor(private layer: Layer, private readonly surroundings: Surroundings) {
    this.element.append(this.video);
    this.update(layer);
  }

  update(layer: Layer): void {
    this.layer = layer;
    sized(this.element, layer);
    sized(this.video, layer);
    this.video.style.display = 'block';
    this.video.style.objectFit = textAt(layer.data, 'fit') ?? 'contain';
    const pictured = asImage(layer);
    if (!this.slate && onDisconnectOf(layer) === 'slate') {
      const fail = (reason: string | null): void => this.surroundings.fail(reason === null ? null : `disconnectedSlate: ${reason}`);
      this.slate = image(pictured, {...this.surroundings, fail});
      if (this.slate.element) {
        this.slate.element.style.cssText += 'position: absolute; inset: 0';
        this.element.append(this.slate.element);
      }
    } else this.slate?.update(pictured);
    this.show();
  }

  setConnected(connected: boolean): void {
    this.connected = connected;
    this.show();
  }

  close(): void {
    this.slate?.close();
    this.video.srcObject = null;
  }

  private show(): void {
    const wish = onDisconnectOf(this.layer);
    this.video.style.visibility = this.connected || wish === 'remain' ? '' : 'hidden';
    if (this.slate?.element) this.slate.element.style.visibility = this.connected || wish !== 'slate' ? 'hidden' : '';
  }
}

function asImage(layer: Layer): Layer {
  const url = textAt(layer.data, 'disconnectedSlate', 'url');
  return {...layer, data: {media: {url: url ?? ''}, fit: textAt(layer.data, 'fit') ?? 'contain'}};
}
