/**
 * What a participant sends, when it is due: their sound waits for what it takes to be heard, and their pictures wait for it.
 * A node of the browser's for a peer's sound keeps what it once collected, and is late by that for good.
 */

import type {DueMedia} from '../agent/due_media';

/** Longer than sound takes from the graph to the encoder on a busy machine. */
const SOUND_MS = 150;
/** A guest whose clock and clicks are known is together by that: browsers and room servers are late with sound. */
const PICTURE_MS = SOUND_MS + 45;
const LOOK_MS = 100;

export class HeldPicture {
  readonly stream: MediaStream;
  private readonly end = new AbortController();

  constructor(track: MediaStreamTrack, {StreamClock, DuePictures}: DueMedia) {
    const clock = new StreamClock(PICTURE_MS), pictures = new DuePictures(clock);
    this.stream = new MediaStream([pictures.track]);
    const looks = setInterval(() => pictures.look(performance.now()), LOOK_MS);
    this.end.signal.addEventListener('abort', () => {
      clearInterval(looks);
      pictures.end();
    });
    void each<VideoFrame>(track, this.end.signal, frame => {
      clock.arrived(frame.timestamp / 1000, performance.now());
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
    void each<AudioData>(track, this.end.signal, data => {
      clock.arrived(data.timestamp / 1000, performance.now());
      audio.play(data);
    });
  }

  close(): void {
    this.end.abort();
  }
}

async function each<Data extends VideoFrame | AudioData>(track: MediaStreamTrack, end: AbortSignal, take: (data: Data) => void): Promise<void> {
  const reader = new MediaStreamTrackProcessor<Data>({track, maxBufferSize: 30}).readable.getReader();
  end.addEventListener('abort', () => void reader.cancel());
  for (;;) {
    const {value} = await reader.read();
    if (!value) return;
    take(value);
  }
}
