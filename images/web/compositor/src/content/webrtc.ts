/** What a participant of the room shows: the camera with the microphone, or the screen with its sound. */

import {LivePicture} from './away';
import {Readiness, type Content, type Surroundings} from './content';
import type {Layer} from '../state/layer';
import {at, number, textAt} from '../state/json';
import {Feed, type Voice} from '../sound/mixer';
import type {Shown} from '../room/room';

export function webrtc(layer: Layer, surroundings: Surroundings): Content {
  const {room, fail} = surroundings;
  const picture = new LivePicture(layer, surroundings), ready = new Readiness();
  let wanted = false, watched: string | null = null, stop: (() => void) | null = null, mixed: Voice | null = null, playing: Feed | null = null, sound: MediaStream | null = null;

  const hear = (audio: MediaStream | null): void => {
    if (audio === sound) return;
    sound = audio;
    playing?.end();
    playing = null;
    if (!audio) return;
    mixed ??= surroundings.voice();
    mixed.setVolume(volume(layer));
    const {context} = mixed.input;
    if (context instanceof AudioContext) playing = new Feed(context.createMediaStreamSource(audio), mixed);
  };
  const show = ({video, audio, present, problem}: Shown): void => {
    if (video && picture.video.srcObject !== video) picture.video.srcObject = video;
    picture.setConnected(video !== null);
    if (video) picture.video.requestVideoFrameCallback(() => ready.resolve());
    hear(audio);
    if (present === false) ready.resolve();
    fail(video || audio ? null : problem ?? 'the participant shows nothing');
  };
  const decide = (): void => {
    const identity = wanted ? textAt(layer.data, 'webrtc', 'id') : null;
    const type = textAt(layer.data, 'webrtc', 'type') === 'screen' ? 'screen' : 'webcam';
    const key = identity === null ? null : JSON.stringify([identity, type]);
    if (key !== null && key === watched) return;
    watched = key;
    stop?.();
    stop = null;
    hear(null);
    picture.video.srcObject = null;
    picture.setConnected(false);
    if (identity !== null) {
      stop = room.watch(identity, type, show);
      return;
    }
    fail(wanted ? 'it has no webrtc.id' : null);
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
      wanted = is;
      decide();
    },
    close() {
      stop?.();
      hear(null);
      picture.close();
      ready.resolve();
    },
  };
}

function volume(layer: Layer): number {
  return number(at(layer.data, 'webrtc', 'volume'), 0, 1, 1);
}
