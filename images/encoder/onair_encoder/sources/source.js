// Shows and plays a live source on a page: access units from this pod's agent, decoded with WebCodecs.
//
//   import {Source} from 'http://127.0.0.1:8450/sources/source.js';
//   const source = new Source(sourceId);
//   document.body.append(source.video);
//   source.audio.connect(source.audioContext.destination);
//
// Records are described in onair_crds/contract/access_units.py. Audio and video keep to one clock, which is
// the publisher's: a medium with time t is due at t + base + delay, where base is the least that any
// record of the last seconds took to arrive. So neither waits for the other, and either may be missing.

import {StreamClock} from './stream-clock.js';
import {DrawnSize} from './drawn-size.js';
import {DuePictures} from './due-pictures.js';
import {DueAudio} from './due-audio.js';
import {delayMs as wantedDelayMs} from './settings.js';

const HEADER = 20;
const VIDEO_CONFIG = 1, AUDIO_CONFIG = 2, VIDEO = 3, AUDIO = 4;
const RETRY_MS = 500;
// So many frames may wait for the decoder, and more for so long, as where all since the last key frame come at once: a decoder
// that is slower than the source would be ever later
const MOST_QUEUED = 120, FULL_MS = 3000;
const SILENT_MS = 1000;      // a source of which nothing arrives for so long counts as away
const MAX_DELAY_MS = 1000;   // so that no more wait, at 60 frames per second
const APART_US = 30_000;     // times of packets are rounded, to 1 ms at RTMP; the playout takes what is nearer for no gap

/** What an audio decoder counts to: it gives samples times without gaps from its first packet on, whatever the times of others are. */
class Counted {
  constructor() { this.reset(); }
  reset() { this.firstUs = this.packetUs = null; this.packets = 0; }
  decoded({numberOfFrames, sampleRate}) { this.packetUs = numberOfFrames * 1_000_000 / sampleRate; }
  /** Whether the next packet's samples would be given another time than its own; if so, it counts as the first. */
  isApart(us) {
    const isApart = this.firstUs !== null && this.packetUs !== null && Math.abs(us - this.firstUs - this.packets * this.packetUs) > APART_US;
    if (isApart || this.firstUs === null) { this.firstUs = us; this.packets = 0; }
    this.packets++;
    return isApart;
  }
}

export class Source extends EventTarget {
  /**
   * Events: `connect` with the first picture or sound, `disconnect` when nothing comes any more. The element
   * `video` itself fires `resize`; it keeps the last frame while the source is disconnected.
   * @param {string} id - of the source.
   * @param {object} [options] - `audioContext`; `delayMs`, the jitter buffer, the project's unless it is given;
   *   `url` of the agent's WebSocket.
   */
  constructor(id, {audioContext, delayMs = wantedDelayMs, url} = {}) {
    super();
    this.id = id;
    this.connected = false;
    this.sendsVideo = false;  // known before its first picture
    this._skipped = 0;        // frames that were not decoded, as decoding them took too long
    this.video = Object.assign(document.createElement('video'), {autoplay: true, muted: true, playsInline: true});
    this.clock = new StreamClock(Math.min(delayMs, MAX_DELAY_MS));
    this._pictures = new DuePictures(this.clock);
    this._drawn = new DrawnSize();
    this.video.srcObject = new MediaStream([this._pictures.track]);
    this.audioContext = audioContext ?? new AudioContext({latencyHint: 'interactive', sampleRate: 48000});
    this._playout = new DueAudio(this.audioContext);
    this.audio = this._playout.output;
    this._url = url ?? new URL(`/sources/${encodeURIComponent(id)}`, import.meta.url).href.replace(/^http/, 'ws');
    this._counted = new Counted();
    this._heardMs = 0;
    this._closed = false;
    this._open();
    this._timer = setInterval(() => this._tick(), 100);
  }

  /** Microseconds of the frame that is shown; null before the first. */
  get shown() { return this._pictures.shown; }
  get dropped() { return this._pictures.dropped + this._skipped; }

  /** A MediaStream of what is shown and played. */
  get stream() {
    if (!this._stream) {
      const audio = new MediaStreamAudioDestinationNode(this.audioContext);
      this.audio.connect(audio);
      this._stream = new MediaStream([this._pictures.track, ...audio.stream.getTracks()]);
    }
    return this._stream;
  }

  /**
   * Says that an element draws the video: one that all such elements draw at half its size or less is made smaller before,
   * which takes less CPU. Do not call it if something else reads the video, too. Returns what ends it.
   */
  drawnBy(element) {
    const end = this._drawn.add(element);
    return () => { end(); this.look(); };
  }

  /** Looks at how large the video is drawn, which happens ten times a second by itself. */
  look() { if (!this._closed && this._pictures.size) this._pictures.halve(this._drawn.halvings(this._pictures.size)); }

  close() {
    this._closed = true;
    clearInterval(this._timer);
    clearTimeout(this._retry);
    this._socket?.close();
    this._stop();
    this._pictures.end();
    this._pictures.track.stop();
    this._playout.close();
  }

  _open() {
    const socket = this._socket = new WebSocket(this._url);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = event => this._record(event.data);
    socket.onclose = () => {
      this._stop();
      if (!this._closed) this._retry = setTimeout(() => this._open(), RETRY_MS);
    };
  }

  /** Forgets the stream; the last picture stays. */
  _stop() {
    for (const decoder of [this._video, this._audio]) if (decoder && decoder.state !== 'closed') decoder.close();
    this._video = this._audio = null;
    this._pictures.clear();
    this.sendsVideo = false;
    this.clock.reset();
    this._playout.reset();
    this._away();
  }

  _away() {
    if (!this.connected) return;
    this.connected = false;
    this.dispatchEvent(new Event('disconnect'));
  }

  _here() {
    this._heardMs = performance.now();
    if (this.connected) return;
    this.connected = true;
    this.dispatchEvent(new Event('connect'));
  }

  _record(buffer) {
    const view = new DataView(buffer), payload = new Uint8Array(buffer, HEADER);
    const kind = view.getUint8(0), key = (view.getUint8(1) & 1) !== 0;
    const pts = Number(view.getBigInt64(4)), dts = Number(view.getBigInt64(12));
    switch (kind) {
      case VIDEO_CONFIG: this.sendsVideo = true; this._videoConfig = config(payload); this._video = this._decoder(VideoDecoder, this._video, this._videoConfig); break;
      case AUDIO_CONFIG: this._audioConfig = config(payload); this._audio = this._decoder(AudioDecoder, this._audio, this._audioConfig); break;
      case VIDEO: case AUDIO: {
        this.clock.arrived(dts / 1000, performance.now());
        const decoder = kind === VIDEO ? this._video : this._audio;
        if (decoder?.state !== 'configured') return;
        if (kind === VIDEO) this._skip(decoder);
        if (decoder.waitsForKey && !key) return;
        decoder.waitsForKey = false;
        if (kind === AUDIO && this._counted.isApart(pts)) decoder.configure(this._audioConfig);
        const Chunk = kind === VIDEO ? EncodedVideoChunk : EncodedAudioChunk;
        decoder.decode(new Chunk({type: key ? 'key' : 'delta', timestamp: pts, data: payload}));
      }
    }
  }

  /** Has a decoder that cannot keep up go on with the next key frame. */
  _skip(decoder) {
    if (decoder.decodeQueueSize <= MOST_QUEUED) return decoder.fullSinceMs = null;
    decoder.fullSinceMs ??= performance.now();
    if (performance.now() - decoder.fullSinceMs < FULL_MS) return;
    decoder.fullSinceMs = null;
    this._skipped += decoder.decodeQueueSize;
    decoder.reset();
    this._decoder(VideoDecoder, decoder, this._videoConfig);
  }

  _decoder(Decoder, present, configuration) {
    const video = Decoder === VideoDecoder, taken = video ? frame => this._frame(frame) : data => this._samples(data);
    const decoder = present && present.state !== 'closed' ? present : new Decoder({
      output: decoded => { decoder.works = true; taken(decoded); },
      error: () => this._damaged(Decoder, decoder),
    });
    decoder.configure(video ? {...configuration, optimizeForLatency: true} : configuration);
    decoder.waitsForKey = true;
    if (!video) this._counted.reset();
    return decoder;
  }

  /** A decoder that met damage is closed: another one goes on with the next key frame; where it never worked, after a pause. */
  _damaged(Decoder, decoder) {
    const [name, wanted] = Decoder === VideoDecoder ? ['_video', '_videoConfig'] : ['_audio', '_audioConfig'];
    if (this._closed || this[name] !== decoder) return;
    const replace = () => { if (!this._closed && this[name] === decoder) this[name] = this._decoder(Decoder, null, this[wanted]); };
    if (decoder.works) replace();
    else setTimeout(replace, RETRY_MS);
  }

  _frame(frame) {
    this._here();
    this._pictures.add(frame);
  }

  _samples(data) {
    this._here();
    this._counted.decoded(data);
    this._playout.play(data);
  }

  /** Notices silence. */
  _tick() {
    this.look();
    if (this.connected) this._pictures.look(performance.now());
    if (performance.now() - this._heardMs > SILENT_MS) this._away();
    this._playout.follow(this.clock);
  }
}

function config(payload) {
  const size = payload[0] << 8 | payload[1];
  const {codec, sampleRate, channels} = JSON.parse(new TextDecoder().decode(payload.subarray(2, 2 + size)));
  return {codec, description: payload.slice(2 + size), ...sampleRate && {sampleRate, numberOfChannels: channels}};
}
