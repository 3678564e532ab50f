/** What Chromium has beyond TypeScript's own library. */
declare class MediaStreamTrackGenerator extends MediaStreamTrack {
  constructor(init: {kind: 'video'});
  readonly writable: WritableStream<VideoFrame>;
}

declare class MediaStreamTrackProcessor<Data extends VideoFrame | AudioData> {
  constructor(init: {track: MediaStreamTrack; maxBufferSize?: number});
  readonly readable: ReadableStream<Data>;
}

interface HTMLVideoElement {
  readonly webkitAudioDecodedByteCount: number;
}
