// The clock of a live stream: each medium with time t is due at t + base + delay, where base is the least that any of
// the last seconds took to arrive; of the last second or two, once all of those come too late to be heard.

const CLOCK_STEP_MS = 100;      // a clock that is further off is set, a nearer one slewed
const SLEW = 0.004;             // by so much of the time that has passed, however many records there were
const WINDOW_S = 5, LATE_WINDOW_S = 1;
const LATE = 0.5;               // of the delay: sound takes some of the rest from its graph to where it is heard
const WHOLE_MS = 200;           // a second whose first record came later may have had no more than a burst
const FIRST_MS = 1000;          // the first records may have waited for a decoder: until then less is taken up at once

/** Says when media are due, from when records arrive. All in milliseconds; `due` on performance.now()'s clock. */
export class StreamClock {
  constructor(delayMs) {
    this.delayMs = delayMs;
    this.reset();
  }
  arrived(dtsMs, nowMs) {
    const lag = nowMs - dtsMs, second = Math.floor(nowMs / 1000);
    const last = this.seconds.at(-1);
    if (last?.second === second) last.lag = Math.min(last.lag, lag);
    else this.seconds.push({second, lag, fromMs: nowMs - second * 1000});
    this._forget(second - WINDOW_S);
    if (this._isLate(second - LATE_WINDOW_S)) this._forget(second - LATE_WINDOW_S);
    const least = this._least();
    const off = this.baseMs === null ? Infinity : least - this.baseMs;
    if (this.baseMs === null) this.firstMs = nowMs;
    const isSet = Math.abs(off) > CLOCK_STEP_MS || (off < 0 && nowMs - this.firstMs < FIRST_MS);
    if (isSet) this.baseMs = least;
    else this.baseMs += Math.sign(off) * Math.min(Math.abs(off), SLEW * Math.min(nowMs - this.lastMs, 1000));
    this.lastMs = nowMs;
  }
  reset() {
    this.baseMs = this.firstMs = this.lastMs = null;
    this.seconds = [];        // least lag of each of the last seconds
  }
  _forget(before) { this.seconds = this.seconds.filter(({second}) => second >= before); }
  _least(since = 0) { return Math.min(...this.seconds.map(({second, lag}) => second >= since ? lag : Infinity)); }
  /** Whether all of a whole second, and since, was late. */
  _isLate(since) {
    const lateMs = Math.max(CLOCK_STEP_MS, this.delayMs * LATE);
    return this.seconds.some(({second, fromMs}) => second === since && fromMs < WHOLE_MS) && this._least(since) - this.baseMs > lateMs;
  }
  mediaMs(nowMs) { return this.baseMs === null ? null : nowMs - this.baseMs - this.delayMs; }
}
