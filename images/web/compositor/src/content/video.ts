/** A video from a URL: it begins when its layout goes on air, and ends on its last frame. */

import {Readiness, type Content, type ContentContext} from './content';
import {isWebUrl, reasonOf} from '../failure/reason';
import {LoadWatch} from './load_watch';
import {VideoPicture} from './video_picture';
import {Retry} from './retry';
import type {Layer} from '../state/layer';
import {at, number, textAt} from '../state/json';
import {hear} from '../sound/media_element';
import type {Voice} from '../sound/mixer';

export function video(layer: Layer, {voice, fail}: ContentContext): Content {
  const element = document.createElement('video'), ready = new Readiness(), retry = new Retry();
  // The mixer is given silence of what another origin did not allow
  Object.assign(element, {crossOrigin: 'anonymous', preload: 'auto', playsInline: true, disableRemotePlayback: true});
  /** What the layer names, and what of that is loaded. */
  let named: string | null = null, url: string | null = null;
  let begun = false, onAir = false, timesOffAir = 0, mixed: Voice | null = null, volume = 0;
  const isHeard = (): boolean => volume > 0 && mixed !== null && element.webkitAudioDecodedByteCount > 0;
  const picture = new VideoPicture(element, isHeard, () => (mixed?.latencyS ?? 0) * 1000);

  const play = (): void => {
    if (onAir && element.src && !element.error) element.play().catch(() => undefined);
  };
  const begin = (): void => {
    // It may have been left a moment ago
    if (element.currentTime > 0) element.currentTime = 0;
    play();
  };
  const giveUp = (reason: string): void => {
    fail(reason);
    ready.resolve();
  };
  const load = (): void => {
    retry.end();
    url = named !== null && isWebUrl(named) ? named : null;
    if (url === null) {
      unload();
      giveUp(named === null ? 'it has no media.url' : 'the URL is not http or https');
      return;
    }
    if (!mixed) hear(element, mixed = voice());
    fetchFrom(url);
  };
  const fetchFrom = (address: string): void => {
    element.src = address;
    watch.begin(address);
    play();
  };
  const watch = new LoadWatch(retry, {needsCors: true, fail: giveUp, again: fetchFrom});
  const unload = (): void => {
    watch.end();
    element.removeAttribute('src');
    // Until then it goes on with what it has
    mixed?.afterFade(() => {
      if (url !== null) return;
      element.pause();
      element.load();
    });
  };
  element.oncanplay = () => {
    if (url === null) return;
    watch.end();
    retry.end();
    fail(null);
    ready.resolve();
  };
  element.onwaiting = () => {
    if (url !== null) watch.begin(url);
  };
  element.onprogress = () => watch.gotOn();
  element.onended = () => watch.end();
  element.onerror = () => {
    const failed = url;
    if (failed === null) return;
    watch.end();
    void reasonOf(failed, 'it is no video that can be played').then(reason => {
      if (failed !== url || !element.error) return;
      giveUp(reason);
      retry.later(() => fetchFrom(failed));
    });
  };
  const update = (now: Layer): void => {
    picture.update(now);
    element.loop = at(now.data, 'media', 'loop') === true;
    const address = textAt(now.data, 'media', 'url');
    if (!begun || address !== named) {
      begun = true;
      named = address;
      load();
    }
    volume = url === null ? 0 : number(at(now.data, 'media', 'volume'), 0, 1, 1);
    mixed?.setVolume(volume);
    picture.heard();
  };
  update(layer);
  return {
    element: picture.element,
    ready: ready.promise,
    update,
    setOnAir(now) {
      if (now === onAir) return;
      onAir = now;
      if (onAir) return begin();
      const mine = ++timesOffAir;
      const rewind = (): void => {
        if (onAir || mine !== timesOffAir) return;
        element.pause();
        element.currentTime = 0;
      };
      if (mixed) mixed.afterFade(rewind);
      else rewind();
    },
    close() {
      url = null;
      watch.end();
      retry.end();
      ready.resolve();
      element.pause();
      element.removeAttribute('src');
      element.load();
      picture.close();
    },
  };
}
