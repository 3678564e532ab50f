/** Retries what could not be loaded, at growing intervals: a server that restarts loses no layer for good. */

const FIRST_MS = 1000, LONGEST_MS = 30_000;

export class Retry {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private delayMs = FIRST_MS;

  later(again: () => void): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(again, this.delayMs);
    this.delayMs = Math.min(this.delayMs * 2, LONGEST_MS);
  }

  /** It is there, or no longer wanted. */
  end(): void {
    clearTimeout(this.timer);
    this.delayMs = FIRST_MS;
  }
}
