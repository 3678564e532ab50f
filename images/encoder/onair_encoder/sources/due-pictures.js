// Shows pictures when they are due: on a track, and away from the moments at which the browser paints.

import {ChromaCorrection} from './chroma-correction.js';
import {PaintPhase} from './paint-phase.js';

const MAX_FRAMES = 90;       // decoded ones that wait for their time
const EARLY_MS = 2;          // timers are that precise

export class DuePictures {
  /** @param {StreamClock} clock - says when they are due, by their timestamps. */
  constructor(clock) {
    // A video element shows decoded frames as they are: a canvas takes twice the CPU without a GPU
    this.track = new MediaStreamTrackGenerator({kind: 'video'});
    this.shown = null;        // microseconds of the frame that is shown
    this.dropped = 0;
    this._clock = clock;
    this._writer = this.track.writable.getWriter();
    this._chroma = new ChromaCorrection();
    this._phase = new PaintPhase();
    this._frames = [];
    this.size = null;         // natural, of the last frame; null before the first
    this._halvings = 0;
    this._last = null;        // the frame that is shown as it was given, while a smaller one is shown
    this._show = this._show.bind(this);
  }

  /** Takes a frame, which it closes. */
  add(frame) {
    if (this._ended) return frame.close();
    this.size = {width: frame.displayWidth, height: frame.displayHeight};
    this._frames.push(frame);
    if (this._frames.length > MAX_FRAMES) { this._frames.shift().close(); this.dropped++; }
    if (!this._next) this._show();
  }

  /** Looks at when the browser paints; to be called now and then while pictures come. */
  look(nowMs) { this._phase.look(nowMs); }

  /** Says how often pictures may be halved: less often, and the one that is shown is shown again, larger. */
  halve(times) {
    const grows = times < this._halvings, last = this._last;
    this._halvings = times;
    if (grows && last && !this._ended) { this._last = null; this._write(last); }
  }

  /** Forgets those that wait; the last one stays. */
  clear() { this._frames.splice(0).forEach(frame => frame.close()); }

  /** Takes no more; the last one stays until the track is stopped. */
  end() {
    clearTimeout(this._next);
    this._ended = true;
    this.clear();
    this._keep(null);
  }

  /** Shows what is due, and comes back when the next frame is: an animation frame each 16 ms costs more. */
  _show() {
    clearTimeout(this._next);
    this._next = 0;
    const nowMs = performance.now(), onTimeMs = this._clock.mediaMs(nowMs), mediaMs = onTimeMs - this._phase.shiftMs;
    if (this._ended || onTimeMs === null) return;
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

  _keep(frame) {
    this._last?.close();
    this._last = frame;
  }

  _write(frame) {
    this._keep(this._halvings ? frame.clone() : null);
    this._chroma.corrected(frame, this._halvings).then(shown => { this._writer.write(shown).catch(() => shown.close()); }, () => frame.close());
  }
}
