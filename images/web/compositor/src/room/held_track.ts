/**
 * What a participant sends, when it is due: their sound waits for what it takes to be heard, and their pictures wait for it.
 * A node of the browser's for a peer's sound keeps what it once collected, and is late by that for good.
 */

import type {DueMedia} from '../agent/due_media';

/** Longer than sound takes from the graph to the encoder on a busy machine. */
const SOUND_MS = 150;
/** A guest whose clock and clicks are known is together by that: browsers and room servers are late with sound. */
const PICTURE_MS = SOUND_MS + 45;
const LOOK_MS = 100, RECENT_MS = 1000;
const MOST_BUFFERED = 30;

export class HeldPicture {
  readonly stream: MediaStream;
  private readonly end = new AbortController();

  constructor(track: MediaStreamTrack, {StreamClock, DuePictures}: DueMedia) {
    const clock = new StreamClock(PICTURE_MS), pictures = new DuePictures(clock);
    let lastMs = -Infinity;
    this.stream = new MediaStream([pictures.track]);
    const looks = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs - lastMs < RECENT_MS) pictures.look(nowMs);
    }, LOOK_MS);
    this.end.signal.addEventListener('abort', () => {
      clearInterval(looks);
      pictures.end();
    });
    each<VideoFrame>(track, this.end.signal, frame => {
      lastMs = performance.now();
      clock.arrived(frame.timestamp / 1000, lastMs);
      pictures.add(frame);
    });
  }

  close(): void {
    this.end.abort();
  }
}

export class HeldSound {
  readonly node: AudioNode;
  private readonly end = new AbortController();

  constructor(track: MediaStreamTrack, context: AudioContext, {StreamClock, DueAudio}: DueMedia) {
    const clock = new StreamClock(SOUND_MS), audio = new DueAudio(context);
    this.node = audio.output;
    const looks = setInterval(() => audio.follow(clock), LOOK_MS);
    this.end.signal.addEventListener('abort', () => {
      clearInterval(looks);
      audio.close();
    });
    each<AudioData>(track, this.end.signal, data => {
      clock.arrived(data.timestamp / 1000, performance.now());
      audio.play(data);
    });
  }

  close(): void {
    this.end.abort();
  }
}

/** Takes what comes, until the end or that of the track. */
function each<Data extends VideoFrame | AudioData>(track: MediaStreamTrack, end: AbortSignal, take: (data: Data) => void): void {
  const read = async (): Promise<void> => {
    const reader = new MediaStreamTrackProcessor<Data>({track, maxBufferSize: MOST_BUFFERED}).readable.getReader();
    end.addEventListener('abort', () => {
      reader.cancel().catch(nothing);
    });
    for (let data = (await reader.read()).value; data; data = (await reader.read()).value) take(data);
  };
  // A track that has ended cannot be read
  read().catch(nothing);
}

function nothing(): void {
  // What ends meanwhile has nothing to say
}
