/** Waiting for times and frames. */

export function after(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}

export function nextFrame(): Promise<number> {
  return new Promise(requestAnimationFrame);
}
