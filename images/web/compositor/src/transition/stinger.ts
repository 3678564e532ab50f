/** Videos that play over a cut. They are loaded ahead, and the layouts are switched by the time of the video itself. */

import {hear} from '../sound/media_element';
import {Bus, type Mixer, type Voice} from '../sound/mixer';
import type {SceneView} from '../stage/scene_view';
import type {Transition} from '../state/transition';
import {cut, type Running} from './running';
import {VideoPicture} from '../content/video_picture';
import {LoadWatch} from '../content/load_watch';
import {Retry} from '../content/retry';

type Stinger = Extract<Transition, {kind: 'stinger'}>;

/** Half a frame of 60 a second: a picture is as near to the cut as this, or it is the one before. */
const NEAR_MS = 8;
/** A video that does not get on is given up. */
const STALL_MS = 2000;
const MOST_LOADED = 8;

interface Loaded {
  readonly video: HTMLVideoElement;
  readonly picture: VideoPicture;
  readonly bus: Bus;
  /** Loads it again where its server failed. */
  readonly retry: Retry;
  readonly watch: LoadWatch;
  readonly fetchAgain: () => void;
  /** Once it has played. */
  voice: Voice | null;
  /** Until what is left of its sound after its end has faded out. */
  fading: Promise<void> | null;
}

export class Stingers {
  private readonly loaded = new Map<string, Loaded>();

  constructor(private readonly mixer: Mixer, private readonly stage: HTMLElement) {}

  /** Loads these and forgets others. */
  want(transitions: readonly Transition[]): void {
    const wanted = new Set(transitions.flatMap(each => each.kind === 'stinger' ? [each.url] : []).slice(0, MOST_LOADED));
    for (const [url, each] of this.loaded) {
      if (wanted.has(url) || each.video.isConnected) continue;
      each.watch.end();
      each.retry.end();
      each.voice?.close();
      each.bus.close();
      each.picture.close();
      each.video.removeAttribute('src');
      each.video.load();
      this.loaded.delete(url);
    }
    for (const url of wanted) this.load(url);
  }

  /** Plays one over the switch; null where its video cannot be played now. */
  run({url, volume, cutPointMs}: Stinger, outgoing: SceneView, incoming: SceneView): Running | null {
    const loaded = this.load(url), {video, picture, bus} = loaded;
    if (video.error || (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA && !isRewinding(video))) return null;
    const voice = loaded.voice ??= voiceOf(video, bus);
    const cover = Object.assign(document.createElement('div'), {className: 'cover'});
    cover.style.zIndex = '2';
    let isCut = false, isBegun = false, isOver = false, isStalled = false, lastMs = performance.now();
    const ended = Promise.withResolvers<void>(), listening = new AbortController();
    const switchNow = (): void => {
      if (!isCut) cut(outgoing, incoming);
      isCut = true;
    };
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      switchNow();
      listening.abort();
      clearInterval(watch);
      if (!isBegun) return ended.resolve();
      voice.setMuted(true);
      // A video that is paused, or taken out of the page, falls silent with a click
      cover.className = 'closing';
      loaded.fading = new Promise(faded => voice.afterFade(() => {
        video.pause();
        // What its server never finished would stall the next one, too
        if (isStalled) loaded.fetchAgain();
        else video.currentTime = 0;
        cover.remove();
        loaded.fading = null;
        faded();
      }));
      ended.resolve();
    };
    const look = (mediaMs: number): void => {
      lastMs = performance.now();
      if (mediaMs >= cutPointMs - NEAR_MS) switchNow();
    };
    const watch = setInterval(() => {
      if (performance.now() - lastMs <= STALL_MS) return;
      isStalled = true;
      end();
    }, STALL_MS / 4);
    const frame: VideoFrameRequestCallback = (_, {mediaTime}) => {
      if (isOver) return;
      look(mediaTime * 1000);
      video.requestVideoFrameCallback(frame);
    };
    const begin = (): void => {
      if (isOver) return;
      isBegun = true;
      cover.append(picture.element);
      this.stage.append(cover);
      bus.set(1);
      voice.setVolume(volume);
      voice.setMuted(false);
      if (video.currentTime > 0) video.currentTime = 0;
      video.play().catch(() => end());
      video.requestVideoFrameCallback(frame);
      video.addEventListener('timeupdate', () => look(video.currentTime * 1000), {signal: listening.signal});
      video.addEventListener('ended', end, {signal: listening.signal});
      video.addEventListener('error', end, {signal: listening.signal});
    };
    if (loaded.fading) void loaded.fading.then(begin);
    else begin();
    return {done: ended.promise, finish: end};
  }

  private load(url: string): Loaded {
    let loaded = this.loaded.get(url);
    if (!loaded) {
      const video = document.createElement('video'), retry = new Retry();
      const fetchFrom = (address: string): void => {
        video.src = address;
        watch.begin(address);
      };
      const watch = new LoadWatch(retry, {needsCors: true, fail: () => undefined, again: fetchFrom});
      video.onprogress = () => watch.gotOn();
      video.onerror = () => {
        watch.end();
        retry.later(() => fetchFrom(url));
      };
      video.oncanplay = () => {
        watch.end();
        retry.end();
      };
      Object.assign(video, {crossOrigin: 'anonymous', preload: 'auto', playsInline: true, disableRemotePlayback: true});
      fetchFrom(url);
      const picture = new VideoPicture(video, () => false, () => 0);
      const fetchAgain = (): void => fetchFrom(url);
      loaded = {video, picture, bus: new Bus(this.mixer), retry, watch, fetchAgain, voice: null, fading: null};
      this.loaded.set(url, loaded);
    }
    return loaded;
  }
}

/** Whether it goes back to its beginning, which is there: it has no frame for a moment. */
function isRewinding({seeking, buffered}: HTMLVideoElement): boolean {
  return seeking && buffered.length > 0 && buffered.start(0) <= 0;
}

function voiceOf(video: HTMLVideoElement, bus: Bus): Voice {
  const voice = bus.voice('');
  hear(video, voice);
  return voice;
}
