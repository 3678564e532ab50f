/** What Chromium has beyond TypeScript's own library. */
declare class MediaStreamTrackGenerator extends MediaStreamTrack {
  constructor(init: {kind: 'video'});
  readonly writable: WritableStream<VideoFrame>;
}
