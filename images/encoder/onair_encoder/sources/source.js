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

import {ChromaCorrection} from './chroma-correction.js';
import {PaintPhase} from './paint-phase.js';
import {delayMs as wantedDelayMs} from './settings.js';

const HEADER = 20;
const VIDEO_CONFIG = 1, AUDIO_CONFIG = 2, VIDEO = 3, AUDIO = 4;
const RETRY_MS = 500;
const SILENT_MS = 1000;      // a source of which nothing arrives for so long counts as away
const MAX_FRAMES = 90;       // decoded ones that wait for their time
const MAX_DELAY_MS = 1000;   // so that no more wait, at 60 frames per second
const EARLY_MS = 2;          // timers are that precise
const CLOCK_STEP_MS = 100;   // a clock that is further off is set, a nearer one slewed
const APART_US = 30_000;     // times of packets are rounded, to 1 ms at RTMP; the playout takes what is nearer for no gap
const MODULE = new URL('audio-playout.js', import.meta.url);

/** Says when media are due, from when records arrive. All in milliseconds; `due` on performance.now()'s clock. */
export class Clock {
  constructor(delayMs) {
    this.delayMs = delayMs;
    this.baseMs = null;
    this.seconds = [];        // least lag of each of the last seconds
  }
  arrived(dtsMs, nowMs) {
    const lag = nowMs - dtsMs, second = Math.floor(nowMs / 1000);
    const last = this.seconds.at(-1);
    if (last?.second === second) last.lag = Math.min(last.lag, lag);
    else this.seconds.push({second, lag});
    while (this.seconds[0].second < second - 5) this.seconds.shift();
    const least = Math.min(...this.seconds.map(each => each.lag));
    const off = this.baseMs === null ? Infinity : least - this.baseMs;
    if (Math.abs(off) > CLOCK_STEP_MS) this.baseMs = least;
    else this.baseMs += Math.sign(off) * Math.min(Math.abs(off), 0.05);
  }
  reset() { this.baseMs = null; this.seconds = []; }
  mediaMs(nowMs) { return this.baseMs === null ? null : nowMs - this.baseMs - this.delayMs; }
}

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
    this.video = Object.assign(document.createElement('video'), {autoplay: true, muted: true, playsInline: true});
    // A video element shows decoded frames as they are: a canvas takes twice the CPU without a GPU
    this._track = new MediaStreamTrackGenerator({kind: 'video'});
    this._writer = this._track.writable.getWriter();
    this._chroma = new ChromaCorrection();
    this.video.srcObject = new MediaStream([this._track]);
    this.audioContext = audioContext ?? new AudioContext({latencyHint: 'interactive', sampleRate: 48000});
    this.audio = new GainNode(this.audioContext);
    this.clock = new Clock(Math.min(delayMs, MAX_DELAY_MS));
    this.shown = null;        // microseconds of the frame that is shown
    this.dropped = 0;
    this._url = url ?? new URL(`/sources/${encodeURIComponent(id)}`, import.meta.url).href.replace(/^http/, 'ws');
    this._frames = [];
    this._counted = new Counted();
    this._phase = new PaintPhase();
    this._heardMs = 0;
    this._closed = false;
    this._playout = this._startPlayout();
    this._open();
    this._timer = setInterval(() => this._tick(), 100);
    this._show = this._show.bind(this);
  }

  /** A MediaStream of what is shown and played. */
  get stream() {
    if (!this._stream) {
      const audio = new MediaStreamAudioDestinationNode(this.audioContext);
      this.audio.connect(audio);
      this._stream = new MediaStream([this._track, ...audio.stream.getTracks()]);
    }
    return this._stream;
  }

  close() {
    this._closed = true;
    clearInterval(this._timer);
    clearTimeout(this._retry);
    this._socket?.close();
    this._stop();
    this._track.stop();
    this.audio.disconnect();
    this._playout.then(node => {
      node.port.postMessage({end: true});
      // It ends when it is next asked for samples: one that leads nowhere is, one behind a gain that leads nowhere is not
      node.disconnect();
    });
  }

  async _startPlayout() {
    await playoutModule(this.audioContext);
    const node = new AudioWorkletNode(this.audioContext, 'onair-playout', {numberOfInputs: 0, outputChannelCount: [2]});
    node.connect(this.audio);
    return node;
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
    this._frames.splice(0).forEach(frame => frame.close());
    this.sendsVideo = false;
    this.clock.reset();
    this._playout.then(({port}) => port.postMessage({reset: true}));
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
        if (!decoder || (decoder.waitsForKey && !key)) return;
        decoder.waitsForKey = false;
        if (kind === AUDIO && this._counted.isApart(pts)) decoder.configure(this._audioConfig);
        const Chunk = kind === VIDEO ? EncodedVideoChunk : EncodedAudioChunk;
        decoder.decode(new Chunk({type: key ? 'key' : 'delta', timestamp: pts, data: payload}));
      }
    }
  }

  _decoder(Decoder, present, configuration) {
    const video = Decoder === VideoDecoder;
    const decoder = present?.state === 'configured' ? present : new Decoder({
      output: video ? frame => this._frame(frame) : data => this._samples(data),
      error: () => this._damaged(Decoder),
    });
    decoder.configure(video ? {...configuration, optimizeForLatency: true} : configuration);
    decoder.waitsForKey = true;
    if (!video) this._counted.reset();
    return decoder;
  }

  /** A decoder that met damage is closed: another one goes on with the next key frame. */
  _damaged(Decoder) {
    if (Decoder === VideoDecoder) this._video = this._decoder(Decoder, null, this._videoConfig);
    else this._audio = this._decoder(Decoder, null, this._audioConfig);
  }

  // -- video ------------------------------------------------------------------------------------

  _frame(frame) {
    this._here();
    this._frames.push(frame);
    if (this._frames.length > MAX_FRAMES) { this._frames.shift().close(); this.dropped++; }
    if (!this._next) this._show();
  }

  /** Shows what is due, and comes back when the next frame is: an animation frame each 16 ms costs more. */
  _show() {
    clearTimeout(this._next);
    this._next = 0;
    const nowMs = performance.now(), onTimeMs = this.clock.mediaMs(nowMs), mediaMs = onTimeMs - this._phase.shiftMs;
    if (this._closed || onTimeMs === null) return;
    let frame = null;
    while (this._frames.length && this._frames[0].timestamp / 1000 <= mediaMs + EARLY_MS) {
      if (frame) { frame.close(); this.dropped++; }
      frame = this._frames.shift();
    }
    if (frame) {
      this.shown = frame.timestamp;
      this._phase.due(nowMs + frame.timestamp / 1000 - onTimeMs);
      this._write(frame);
    }
    if (this._frames.length) this._next = setTimeout(this._show, this._frames[0].timestamp / 1000 - mediaMs);
  }

  _write(frame) {
    this._chroma.corrected(frame).then(shown => { this._writer.write(shown).catch(() => shown.close()); }, () => frame.close());
  }

  // -- audio ------------------------------------------------------------------------------------

  async _samples(data) {
    this._here();
    this._counted.decoded(data);
    const channels = Array.from({length: Math.min(2, data.numberOfChannels)}, (_, planeIndex) => {
      const plane = new Float32Array(data.numberOfFrames);
      data.copyTo(plane, {planeIndex, format: 'f32-planar'});
      return plane;
    });
    const message = {atMs: data.timestamp / 1000, rate: data.sampleRate, channels};
    data.close();
    (await this._playout).port.postMessage(message, channels.map(plane => plane.buffer));
  }

  /** Tells the playout what is due when, and notices silence. */
  async _tick() {
    if (this.connected) this._phase.look(performance.now());
    if (performance.now() - this._heardMs > SILENT_MS) this._away();
    const {contextTime, performanceTime} = this.audioContext.getOutputTimestamp();
    const mediaMs = performanceTime ? this.clock.mediaMs(performanceTime) : null;
    if (mediaMs !== null) (await this._playout).port.postMessage({contextTime, mediaMs});
  }
}

const loading = new WeakMap();

/** Waits until a context has the playout's module: the agent may be away, and without it a source would be silent for good. */
function playoutModule(audioContext) {
  let loaded = loading.get(audioContext);
  if (!loaded) loading.set(audioContext, loaded = loadPlayout(audioContext));
  return loaded;
}

async function loadPlayout(audioContext) {
  // A browser keeps a module that it could not load as failed, under its URL
  const load = url => audioContext.audioWorklet.addModule(url).then(() => true, () => false);
  for (let attempt = 1, url = MODULE; !await load(url); attempt++) {
    if (audioContext.state === 'closed') return new Promise(() => {});
    await new Promise(done => setTimeout(done, RETRY_MS));
    url = new URL(`?attempt=${attempt}`, MODULE);
  }
}

function config(payload) {
  const size = payload[0] << 8 | payload[1];
  const {codec, sampleRate, channels} = JSON.parse(new TextDecoder().decode(payload.subarray(2, 2 + size)));
  return {codec, description: payload.slice(2 + size), ...sampleRate && {sampleRate, numberOfChannels: channels}};
}
