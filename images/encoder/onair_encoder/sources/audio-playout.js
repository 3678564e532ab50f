// Plays samples when they are due: by half a per cent faster or slower to follow the source's clock.

const RING = 1 << 18;          // samples, more than five seconds at 48 kHz
const JOIN_MS = 30;            // times of RTMP are rounded to 1 ms: what is nearer follows without a gap
const STEP_MS = 60;            // what is further off is jumped over
const APART_MS = 20, LOOKS = 2; // and what is as far for so many looks: the context has stood still, which was heard anyway
const SLEW = 0.005, SETTLE_S = 1;
const BRIDGE_S = 0.005;        // where the wave breaks off, or begins, the step fades out: it would be a click
const INAUDIBLE = 1e-6;

class Bridge {
  constructor(rate) {
    this.last = this.rest = 0;   // sample that was given, and what was added to it
    this.fading = Math.exp(-1 / BRIDGE_S / rate);
  }

  /** The next sample, which takes up where the last one ended if it is a step. */
  next(sample, isStep) {
    const rest = isStep ? this.last - sample : this.rest * this.fading;
    this.rest = Math.abs(rest) < INAUDIBLE ? 0 : rest;
    return this.last = sample + this.rest;
  }
}

registerProcessor('onair-playout', class extends AudioWorkletProcessor {
  constructor() {
    super();
    this.ring = [new Float32Array(RING), new Float32Array(RING)];
    this.isPlaying = this.isEnded = false;
    this.played = [new Bridge(sampleRate), new Bridge(sampleRate)];
    this.written = [];
    this.reset();
    this.port.onmessage = ({data}) => {
      if (data.end) this.finish();
      else if (data.reset) this.reset();
      else if (data.channels) this.write(data);
      else {
        this.due = data;
        this.isNew = true;
      }
    };
  }

  reset() {
    this.rate = 0;
    this.begin = this.end = 0;   // samples of the stream that the ring holds
    this.position = null;        // the next one to be played
    this.due = null;
    this.isNew = false;          // nothing was played by it yet
    this.apart = 0;              // looks in a row
  }

  /** Ends for good; the ring goes at once, as no samples are asked for while the context is suspended. */
  finish() {
    this.isEnded = true;
    this.ring = [];
    this.port.onmessage = null;
    this.port.close();
  }

  write({atMs, rate, channels}) {
    if (rate !== this.rate) {
      this.reset();
      this.rate = rate;
      this.written = this.ring.map(() => new Bridge(rate));
    }
    const at = Math.round(atMs * rate / 1000), isFirst = this.end === this.begin;
    const isGap = !isFirst && Math.abs(at - this.end) > JOIN_MS * rate / 1000;
    if (isFirst || isGap) {
      if (isFirst || at < this.begin || at - this.end > RING / 2) this.begin = this.end = at;
      else if (at < this.end) this.cut(at);
      else this.append([], at - this.end, true);
    }
    this.append(channels, channels[0].length, isGap);
    this.begin = Math.max(this.begin, this.end - RING);
  }

  /** Forgets samples from here on; what was to be played before them stays. */
  cut(at) {
    this.end = at;
    for (const [channel, ring] of this.ring.entries()) this.written[channel].last = ring[at - 1 & RING - 1];
  }

  /** Samples that follow the others; silence where there is no channel. */
  append(channels, size, isStep) {
    for (const [channel, ring] of this.ring.entries()) {
      const samples = channels[channel] ?? channels[0], bridge = this.written[channel];
      for (let i = 0; i < size; i++) ring[this.end + i & RING - 1] = bridge.next(samples?.[i] ?? 0, isStep && i === 0);
    }
    this.end += size;
  }

  process(_, [output]) {
    if (this.isEnded) return false;
    let step = 0, isStep = false;
    if (this.rate && this.due) {
      const {contextTime, mediaMs} = this.due;
      const wanted = (mediaMs + (currentTime - contextTime) * 1000) * this.rate / 1000;
      const off = this.position === null ? Infinity : this.position - wanted;
      let slew = 0;
      const apartMs = Math.abs(off) * 1000 / this.rate;
      if (this.isNew) this.apart = apartMs > APART_MS ? this.apart + 1 : 0;
      this.isNew = false;
      isStep = apartMs > STEP_MS || this.apart >= LOOKS;
      if (isStep) {
        this.position = wanted;
        this.apart = 0;
      }
      else slew = Math.max(-SLEW, Math.min(SLEW, -off / this.rate / SETTLE_S));
      step = this.rate / sampleRate * (1 + slew);
    } else if (!this.isPlaying && this.played.every(({rest}) => rest === 0)) return true;
    const size = output[0].length;
    for (let i = 0; i < size; i++, isStep = false) {
      const at = Math.floor(this.position);
      const isPlaying = step > 0 && at - 1 >= this.begin && at + 2 < this.end;
      isStep ||= isPlaying !== this.isPlaying;
      this.isPlaying = isPlaying;
      for (let channel = 0; channel < output.length; channel++) {
        const sample = isPlaying ? between(this.ring[channel], at, this.position - at) : 0;
        output[channel][i] = this.played[channel].next(sample, isStep);
      }
      if (step) this.position += step;
    }
    return true;
  }
});

/** Cubic (Catmull-Rom) interpolation between a sample and the next. */
function between(ring, at, t) {
  const a = ring[at - 1 & RING - 1], b = ring[at & RING - 1], c = ring[at + 1 & RING - 1], d = ring[at + 2 & RING - 1];
  return b + t * ((c - a) + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a))) / 2;
}
