// Keeps pictures away from the moments at which the browser paints.
//
// A picture that comes just when the browser paints is seen with this paint or with the next one, by chance: then a frame
// is missed, and the one before it doubled. Where pictures come as often as paints, all have the same place between two
// of them; it is moved to the middle. That is no other paint: nothing is seen later or sooner by it.

const SAMPLE_MS = 1000;      // from one look at when the browser paints to the next
const LOOKS = 3;             // of these the shortest interval counts: a page that is busy misses paints
const OTHER_RATE = 0.1;      // an interval that differs by this part is another one
const LEAST_WEIGHT = 0.03;   // of a picture in the mean of their places, once there were many
const FEWEST = 10;           // pictures, before any is moved
const STEADY = 0.7;          // length of the mean of places, as points of a circle: it is 1 where all are the same
const FARTHEST = 0.6;        // part of an interval; a half would do, but that a place at its edge moves to and fro

export class PaintPhase {
  constructor() {
    this.intervalMs = this.paintedMs = null;
    this.intervals = [];
    this.lookedMs = -Infinity;
    this.isLooking = false;
    this.forget();
  }

  forget() {
    this.shiftMs = 0;          // to be added to when pictures are due
    this.count = this.x = this.y = 0;
  }

  /** Looks at when the browser paints, if it was not done of late. */
  look(nowMs) {
    if (this.isLooking || nowMs - this.lookedMs < SAMPLE_MS) return;
    this.lookedMs = nowMs;
    this.isLooking = true;     // a page that nobody sees has no animation frames
    requestAnimationFrame(first => requestAnimationFrame(second => {
      this.isLooking = false;
      this.painted(first, second);
    }));
  }

  /** Two paints, one after the other. */
  painted(firstMs, secondMs) {
    this.intervals.push(secondMs - firstMs);
    if (this.intervals.length > LOOKS) this.intervals.shift();
    const shortestMs = Math.min(...this.intervals), {intervalMs, paintedMs} = this;
    if (intervalMs === null || Math.abs(shortestMs / intervalMs - 1) > OTHER_RATE) {
      this.intervalMs = shortestMs;
      this.forget();
    } else {
      // As precise as the time since then is long: an error would add up from paint to paint
      const count = Math.round((secondMs - paintedMs) / shortestMs);
      if (count > 0) this.intervalMs = (secondMs - paintedMs) / count;
    }
    this.paintedMs = secondMs;
  }

  /** A picture that is due, before it is moved. */
  due(dueMs) {
    if (this.intervalMs === null) return;
    const place = (dueMs - this.paintedMs) / this.intervalMs, angle = 2 * Math.PI * place;
    const weight = Math.max(1 / ++this.count, LEAST_WEIGHT);
    this.x += (Math.cos(angle) - this.x) * weight;
    this.y += (Math.sin(angle) - this.y) * weight;
    if (this.count < FEWEST || Math.hypot(this.x, this.y) < STEADY) { this.shiftMs = 0; return; }
    // The angle of the middle is half a turn: from there to -half a turn
    const principal = -Math.atan2(-this.y, -this.x) / (2 * Math.PI), before = this.shiftMs / this.intervalMs;
    const nearest = principal + Math.round(before - principal);
    this.shiftMs = (Math.abs(nearest) <= FARTHEST ? nearest : principal) * this.intervalMs;
  }
}
