/** What a video plays, into a voice. Its file may break off in the middle of a wave: it falls silent just before its end. */

import {ramp, RAMP_S, type Voice} from './mixer';

/** Where a video is may be known later than it is heard by this. */
const BEFORE_END_S = 0.05;
const SHORTEST_S = 0.2;
const MOVES = ['timeupdate', 'playing', 'seeked', 'pause', 'durationchange'] as const;

export function hear(video: HTMLVideoElement, voice: Voice): void {
  const {context} = voice.input;
  if (!(context instanceof AudioContext)) return;
  const end = new GainNode(context), {gain} = end;
  context.createMediaElementSource(video).connect(end).connect(voice.input);
  const plan = (): void => {
    if (video.ended) return;
    const ends = !video.paused && !video.loop && video.duration >= SHORTEST_S;
    const fadeS = ends ? (video.duration - video.currentTime) / video.playbackRate - BEFORE_END_S - RAMP_S : Infinity;
    if (fadeS <= RAMP_S) ramp(gain, context.currentTime, [[RAMP_S, 0]]);
    else ramp(gain, context.currentTime, [[RAMP_S, 1], ...(fadeS < Infinity ? [[fadeS, 1], [fadeS + RAMP_S, 0]] as const : [])]);
  };
  for (const each of MOVES) video.addEventListener(each, plan);
}
