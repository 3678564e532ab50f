/** What a participant of the room shows: the camera with the microphone, or the screen with its sound. */

import type {Content, Surroundings} from './content';
import {Live} from './live';
import type {Layer} from '../state/layer';
import {textAt} from '../state/json';
import {Feed} from '../sound/mixer';
import type {Shown} from '../room/room';

/** One for each stream: the browser keeps what it has made for good. */
const nodes = new WeakMap<MediaStream, AudioNode>();

export function webrtc(layer: Layer, surroundings: Surroundings): Content {
  const {room} = surroundings;
  const live = new Live('webrtc', layer, surroundings), {picture, ready} = live;
  let stop: (() => void) | null = null, playing: Feed | null = null, sound: MediaStream | null = null;

  const hear = (audio: MediaStream | null): void => {
    if (audio === sound) return;
    sound = audio;
    playing?.end();
    playing = null;
    if (!audio) return;
    const voice = live.voice(), {context} = voice.input;
    if (!(context instanceof AudioContext)) return;
    const node = nodes.get(audio) ?? context.createMediaStreamSource(audio);
    nodes.set(audio, node);
    playing = new Feed(node, voice);
  };
  const show = ({video, audio, present, isComing, problem}: Shown): void => {
    if (video && picture.video.srcObject !== video) {
      picture.setConnected(false);
      picture.video.srcObject = video;
    }
    picture.setConnected(video !== null);
    if (video) picture.video.requestVideoFrameCallback(() => ready.resolve());
    hear(audio);
    // Who is away, or shows nothing, holds no show up
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
