/** What a participant of the room shows: the camera with the microphone, or the screen with its sound. */

import type {Content, ContentContext} from './content';
import {Live} from './live';
import type {Layer} from '../state/layer';
import {textAt} from '../state/json';
import {Feed} from '../sound/mixer';
import type {HeldSound} from '../room/held_track';
import type {SentSound, Shown} from '../room/room';

interface Heard {
  readonly sound: HeldSound;
  /** So many layers hear it. */
  layers: number;
}

/** Each is played once, for all layers that it is heard in. */
const heard = new WeakMap<SentSound, Heard>();
/** What is heard again within this time goes on; longer than anything fades out. */
const UNHEARD_MS = 2500;

function begin(sent: SentSound, context: AudioContext): AudioNode {
  const found = heard.get(sent) ?? {sound: sent.hold(context), layers: 0};
  found.layers += 1;
  heard.set(sent, found);
  return found.sound.node;
}

function end(sent: SentSound): void {
  const found = heard.get(sent);
  if (!found) return;
  found.layers -= 1;
  setTimeout(() => {
    if (found.layers !== 0 || heard.get(sent) !== found) return;
    heard.delete(sent);
    found.sound.close();
  }, UNHEARD_MS);
}

export function webrtc(layer: Layer, context: ContentContext): Content {
  const {room} = context;
  const live = new Live('webrtc', layer, context), {picture, ready} = live;
  let stop: (() => void) | null = null, playing: Feed | null = null, sound: SentSound | null = null;

  const hear = (audio: SentSound | null): void => {
    if (audio === sound) return;
    const before = playing && sound;
    sound = audio;
    playing?.end();
    playing = null;
    if (before) end(before);
    if (!audio) return;
    const voice = live.voice(), {context} = voice.input;
    if (!(context instanceof AudioContext)) return;
    playing = new Feed(begin(audio, context), voice);
  };
  const show = ({video, audio, present, isComing, problem}: Shown): void => {
    if (video) picture.take(video);
    picture.setConnected(video !== null);
    if (video) picture.video.requestVideoFrameCallback(() => ready.resolve());
    hear(audio);
    // Nobody who is absent, or shows nothing, holds up a show
    if (present === false || (present && !video && !isComing)) ready.resolve();
    picture.fail(video || audio ? null : problem ?? 'the participant shows nothing');
  };
  return live.content({
    named(now) {
      const identity = textAt(now.data, 'webrtc', 'id');
      const type = textAt(now.data, 'webrtc', 'type') === 'screen' ? 'screen' as const : 'webcam' as const;
      return identity === null ? null : {identity, type};
    },
    take({identity, type}) {
      stop = room.watch(identity, type, show);
    },
    release() {
      stop?.();
      stop = null;
      hear(null);
    },
  });
}
