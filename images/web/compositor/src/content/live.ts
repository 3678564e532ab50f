/** What layers with a live picture have in common: what they name is taken while their layout wants it, and heard in one voice. */

import {LivePicture} from './on_disconnect';
import {Readiness, type Content, type ContentContext} from './content';
import {at, number} from '../state/json';
import type {Layer} from '../state/layer';
import type {Voice} from '../sound/mixer';

/** How a type of layer is taken. */
export interface Taking<Name> {
  /** What the layer names, or null: nothing is done while it stays the same. */
  named(layer: Layer): Name | null;
  take(name: Name): void;
  /** Ends what was taken, if anything. */
  release(): void;
}

export class Live {
  readonly picture: LivePicture;
  readonly ready = new Readiness();
  private mixed: Voice | null = null;

  /** `type` is the layer's, and the name of its data. */
  constructor(private readonly type: 'source' | 'webrtc', private layer: Layer, private readonly context: ContentContext) {
    this.picture = new LivePicture(layer, context, type === 'webrtc');
  }

  /** The layer's voice, from its first call on. */
  voice(): Voice {
    this.mixed ??= this.context.voice();
    this.mixed.setVolume(this.volume);
    return this.mixed;
  }

  content<Name>({named, take, release}: Taking<Name>): Content {
    const {picture, ready} = this;
    let wanted = false, taken: string | null = null, last: string | null = null;

    const decide = (): void => {
      const name = wanted ? named(this.layer) : null, is = name === null ? null : JSON.stringify(name);
      if (is !== null && is === taken) return;
      taken = is;
      release();
      if (is !== null && is !== last) picture.forget();
      last = is ?? last;
      picture.video.srcObject = null;
      picture.setConnected(false);
      if (name !== null) return take(name);
      picture.fail(wanted ? `it has no ${this.type}.id` : null);
      if (wanted) ready.resolve();
    };
    return {
      element: picture.element,
      ready: ready.promise,
      update: now => {
        this.layer = now;
        picture.update(now);
        this.mixed?.setVolume(this.volume);
        decide();
      },
      setWanted(is) {
        wanted = is;
        decide();
      },
      close() {
        release();
        picture.close();
        ready.resolve();
      },
    };
  }

  private get volume(): number {
    return number(at(this.layer.data, this.type, 'volume'), 0, 1, 1);
  }
}
