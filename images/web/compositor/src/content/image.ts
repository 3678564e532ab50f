/** A picture from a URL. Another URL takes its place once it is loaded. */

import {Readiness, sized, type Content, type ContentContext} from './content';
import {isWebUrl, reasonOf} from '../failure/reason';
import {fitOf} from './fit';
import {LoadWatch} from './load_watch';
import {Retry} from './retry';
import type {Layer} from '../state/layer';
import {textAt} from '../state/json';

/** A picture takes four bytes for each pixel once it is shown. */
const MOST_PIXELS = 64_000_000;

export function image(layer: Layer, {fail}: ContentContext): Content {
  const element = document.createElement('div'), ready = new Readiness(), retry = new Retry();
  let shown: HTMLImageElement | null = null, loading: HTMLImageElement | null = null;
  let url: string | null = null, now = layer, attempt = 0;
  const watch = new LoadWatch(retry, {
    needsCors: false,
    fail(reason) {
      fail(reason);
      ready.resolve();
    },
    again: address => void load(address),
  });

  const show = (loaded: HTMLImageElement | null): void => {
    if (loaded) element.replaceChildren(loaded);
    else element.replaceChildren();
    shown = loaded;
    lay();
    ready.resolve();
  };
  const lay = (): void => {
    sized(element, now);
    if (!shown) return;
    shown.style.display = 'block';
    shown.style.objectFit = fitOf(now, 'fill');
    sized(shown, now);
  };
  const load = async (address: string | null): Promise<void> => {
    const mine = ++attempt;
    stop();
    const stale = (): boolean => mine !== attempt;
    const giveUp = (reason: string): void => {
      if (stale()) return;
      fail(reason);
      show(null);
    };
    if (address === null) return giveUp('it has no media.url');
    if (!isWebUrl(address)) return giveUp('the URL is not http or https');
    const picture = loading = new Image();
    picture.decoding = 'async';
    picture.src = address;
    watch.begin(address);
    try {
      await new Promise((resolve, reject) => Object.assign(picture, {onload: resolve, onerror: reject})).finally(() => {
        if (stale()) return;
        watch.end();
        loading = null;
      });
      const {naturalWidth: width, naturalHeight: height} = picture;
      if (width * height > MOST_PIXELS) return giveUp(`${width} × ${height} pixels are too many`);
      await picture.decode();
    } catch {
      giveUp(await reasonOf(address, 'it is no picture that can be shown', false));
      if (!stale()) retry.later(() => void load(address));
      return;
    }
    if (stale()) return;
    retry.end();
    fail(null);
    show(picture);
  };
  /** Leaves what still loads: a request that hangs holds up those after it for the same URL. */
  const stop = (): void => {
    watch.end();
    loading?.removeAttribute('src');
    loading = null;
  };
  const update = (after: Layer): void => {
    now = after;
    const address = textAt(after.data, 'media', 'url');
    if (attempt === 0 || address !== url) {
      url = address;
      retry.end();
      void load(address);
    }
    lay();
  };
  update(layer);
  return {
    element,
    ready: ready.promise,
    update,
    close() {
      attempt++;
      stop();
      retry.end();
      ready.resolve();
    },
  };
}
