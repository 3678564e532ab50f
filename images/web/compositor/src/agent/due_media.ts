/** Of the agent's scripts: media that are played when they are due, see docs/decisions/0232-pictures-wait-for-their-audio.md. */

import {agentScript} from './script';

/** Says when media are due, from when they arrive. All in milliseconds. */
export interface StreamClock {
  arrived(mediaMs: number, nowMs: number): void;
}
/** Takes what it is given, and closes it. */
export interface DuePictures {
  readonly track: MediaStreamTrack;
  add(frame: VideoFrame): void;
  look(nowMs: number): void;
  /** The last one stays. */
  end(): void;
}
export interface DueAudio {
  readonly output: AudioNode;
  play(data: AudioData): void;
  follow(clock: StreamClock): void;
  close(): void;
}
export interface DueMedia {
  readonly StreamClock: new (delayMs: number) => StreamClock;
  readonly DuePictures: new (clock: StreamClock) => DuePictures;
  readonly DueAudio: new (context: AudioContext) => DueAudio;
}

export async function dueMedia(): Promise<DueMedia> {
  const [clock, pictures, audio] = await Promise.all([
    agentScript<Pick<DueMedia, 'StreamClock'>>('stream-clock.js'),
    agentScript<Pick<DueMedia, 'DuePictures'>>('due-pictures.js'),
    agentScript<Pick<DueMedia, 'DueAudio'>>('due-audio.js'),
  ]);
  return {...clock, ...pictures, ...audio};
}
