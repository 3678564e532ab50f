/** A live source of the project. */

import {LivePicture} from './away';
import {Readiness, type Content, type Surroundings} from './content';
import type {Taken} from './sources';
import type {Layer} from '../state/layer';
import {at, number, textAt} from '../state/json';
import {Feed, type Voice} from '../sound/mixer';

const RETRY_MS = 1000;
/** A source that sends sound alone is there too. */
const FIRST_PICTURE_MS = 1000;
/** One that is there begins with its next key frame; a show does not wait longer for one that may be away. */
const AWAY_MS = 4000;

export function source(layer: Layer, surroundings: Surroundings): Content {
  const {sources, fail} = surroundings;
  const picture = new LivePicture(layer, surroundings), ready = new Readiness();
  let id: string | null = null, taken: Taken | null = null, mixed: Voice | null = null, heard: Feed | null = null, attempt = 0, closed = false, wanted = false;

  const follow = (connected: boolean): void => {
    picture.setConnected(connected);
    fail(connected ? null : 'the source is not connected');
    if (!connected) return;
    picture.video.requestVideoFrameCallback(() => ready.resolve());
    setTimeout(() => ready.resolve(), FIRST_PICTURE_MS);
  };
  const release = (): void => {
    attempt++;
    heard?.end();
    heard = null;
    taken?.release();
    taken = null;
    picture.video.srcObject = null;
    picture.setConnected(false);
  };
  const take = async (wanted: string): Promise<void> => {
    const mine = ++attempt;
    try {
      const found = await sources.take(wanted);
      if (mine !== attempt) return found.release();
      taken = found;
      mixed ??= surroundings.voice();
      mixed.setVolume(volume(layer));
      heard = new Feed(found.audio, mixed);
      picture.video.srcObject = new MediaStream([found.track]);
      found.follow(follow);
    } catch (error) {
      if (mine !== attempt || closed) return;
      fail(`the script of sources failed: ${String(error)}`);
      ready.resolve();
      setTimeout(() => mine === attempt && !closed && void take(wanted), RETRY_MS);
    }
  };
  const decide = (): void => {
    const is = wanted ? textAt(layer.data, 'source', 'id') : null;
    if (is !== null && is === id) return;
    release();
    id = is;
    if (id !== null) return void take(id);
    fail(wanted ? 'it has no source.id' : null);
    if (wanted) ready.resolve();
  };
  return {
    element: picture.element,
    ready: ready.promise,
    update(now) {
      layer = now;
      picture.update(now);
      mixed?.setVolume(volume(now));
      decide();
    },
    setWanted(is) {
      if (is && !wanted) setTimeout(() => ready.resolve(), AWAY_MS);
      wanted = is;
      decide();
    },
    close() {
      closed = true;
      release();
      picture.close();
      ready.resolve();
    },
  };
}

function volume(layer: Layer): number {
  return number(at(layer.data, 'source', 'volume'), 0, 1, 1);
}
