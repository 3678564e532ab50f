/** A live source of the project. */

import type {Content, ContentContext} from './content';
import {Live} from './live';
import type {Taken} from './live_sources';
import type {Layer} from '../state/layer';
import {textAt} from '../state/json';
import {Feed} from '../sound/mixer';

const RETRY_MS = 1000;
/** A source that only sends audio is connected too. */
const FIRST_PICTURE_MS = 1000;
/** One that is connected begins with its next key frame; a show does not wait longer for one that may not be. */
const AWAY_MS = 4000;

export function source(layer: Layer, context: ContentContext): Content {
  const {sources} = context;
  const live = new Live('source', layer, context), {picture, ready} = live;
  let taken: Taken | null = null, heard: Feed | null = null, attempt = 0, connections = 0;

  const follow = (connected: boolean): void => {
    const mine = ++connections;
    let isSeen = false;
    picture.setConnected(connected);
    picture.fail(connected ? null : 'the source is not connected');
    if (!connected) return;
    picture.video.requestVideoFrameCallback(() => {
      ready.resolve();
      isSeen = true;
      if (mine === connections) picture.fail(null);
    });
    setTimeout(() => {
      ready.resolve();
      if (mine === connections && !isSeen && !taken?.sendsVideo()) picture.fail('the source sends no video');
    }, FIRST_PICTURE_MS);
  };
  const open = async (id: string): Promise<void> => {
    const mine = ++attempt;
    try {
      const found = await sources.take(id);
      if (mine !== attempt) return found.release();
      taken = found;
      heard = new Feed(found.audio, live.voice());
      picture.video.srcObject = new MediaStream([found.track]);
      found.drawnBy(picture.video);
      found.follow(follow);
    } catch (error) {
      if (mine !== attempt) return;
      picture.fail(`the script of sources failed: ${String(error)}`);
      ready.resolve();
      setTimeout(() => mine === attempt && void open(id), RETRY_MS);
    }
  };
  const content = live.content({
    named: now => textAt(now.data, 'source', 'id'),
    take(id) {
      setTimeout(() => ready.resolve(), AWAY_MS);
      void open(id);
    },
    release() {
      attempt++;
      connections++;
      heard?.end();
      heard = null;
      taken?.release();
      taken = null;
    },
  });
  return {
    ...content,
    update(now) {
      content.update(now);
      // Once it has its new size, ahead of its next paint
      requestAnimationFrame(() => taken?.drawnBy(picture.video));
    },
  };
}
