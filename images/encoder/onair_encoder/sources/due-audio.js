// Plays decoded audio when it is due, whatever it takes from the graph to where it is heard.

import {downmixed} from './downmix.js';

const MODULE = new URL('audio-playout.js', import.meta.url);
const RETRY_MS = 500;

export class DueAudio {
  constructor(audioContext) {
    this.output = new GainNode(audioContext);
    this._audioContext = audioContext;
    this._node = null;         // until the worklet's module is there, what comes is not kept
    this._closed = false;
    this._start();
  }

  /** Takes an AudioData, which it closes. */
  play(data) {
    if (!this._node) return data.close();
    const planes = Array.from({length: data.numberOfChannels}, (_, planeIndex) => {
      const plane = new Float32Array(data.numberOfFrames);
      data.copyTo(plane, {planeIndex, format: 'f32-planar'});
      return plane;
    });
    const channels = downmixed(planes);
    const message = {atMs: data.timestamp / 1000, rate: data.sampleRate, channels};
    data.close();
    this._node.port.postMessage(message, channels.map(plane => plane.buffer));
  }

  /** Takes up what is due when; to be called some times a second. */
  follow(clock) {
    const {contextTime, performanceTime} = this._audioContext.getOutputTimestamp();
    const mediaMs = performanceTime ? clock.mediaMs(performanceTime) : null;
    if (mediaMs !== null) this._node?.port.postMessage({contextTime, mediaMs});
  }

  /** Forgets what was taken. */
  reset() { this._node?.port.postMessage({reset: true}); }

  close() {
    this._closed = true;
    this.output.disconnect();
    this._node?.port.postMessage({end: true});
    // It ends when it is next asked for samples: one that leads nowhere is, one behind a gain that leads nowhere is not
    this._node?.disconnect();
    this._node = null;
  }

  async _start() {
    await playoutModule(this._audioContext);
    if (this._closed) return;
    this._node = new AudioWorkletNode(this._audioContext, 'onair-playout', {numberOfInputs: 0, outputChannelCount: [2]});
    this._node.connect(this.output);
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
