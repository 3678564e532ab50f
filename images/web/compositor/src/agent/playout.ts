/** Of the agent's scripts: media that are played when they are due, see docs/reference/page-sources.md. */

import {agentScript} from './script';

/** Says when media are due, from when they arrive. All in milliseconds. */
export interface Clock {
  arrived(mediaMs: number, nowMs: number): void;
}
/** Takes what it is given, and closes it. */
export interface Pictures {
  readonly track: MediaStreamTrack;
  add(frame: VideoFrame): void;
  look(nowMs: number): void;
  /** The last one stays. */
  end(): void;
}
export interface Playout {
  readonly output: AudioNode;
  play(data: AudioData): void;
  follow(clock: Clock): void;
  close(): void;
}
export interface PlayoutScripts {
  readonly Clock: new (delayMs: number) => Clock;
  readonly Pictures: new (clock: Clock) => Pictures;
  readonly Playout: new (context: AudioContext) => Playout;
}

export async function playoutScripts(): Promise<PlayoutScripts> {
  const [clock, pictures, playout] = await Promise.all([
    agentScript<Pick<PlayoutScripts, 'Clock'>>('clock.js'),
    agentScript<Pick<PlayoutScripts, 'Pictures'>>('pictures.js'),
    agentScript<Pick<PlayoutScripts, 'Playout'>>('playout.js'),
  ]);
  return {...clock, ...pictures, ...playout};
}
