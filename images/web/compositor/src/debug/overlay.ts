/** What is drawn, as text over the picture; for `scene.debug` and `?debug=true`. */

import type {Failure} from '../failure/layer_failures';
import type {Scene} from '../state/scene';

const STYLE = 'position: absolute; inset: 8px auto auto 8px; z-index: 9; padding: 6px 8px; background: #000c; color: #fff;'
  + ' font: 12px/1.4 monospace; white-space: pre; pointer-events: none';
const LINES = 20;

export class Overlay {
  private readonly element = document.createElement('div');
  private frames = 0;
  private sinceMs = performance.now();
  private timer: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly parent: HTMLElement, private readonly look: () => Seen) {
    this.element.className = 'debug';
    this.element.style.cssText = STYLE;
  }

  setShown(shown: boolean): void {
    if (shown === (this.timer !== null)) return;
    if (this.timer !== null) {
      clearInterval(this.timer);
      this.timer = null;
      this.element.remove();
      return;
    }
    this.parent.append(this.element);
    this.timer = setInterval(() => this.write(), 1000);
    const count = (): void => {
      this.frames++;
      if (this.timer !== null) requestAnimationFrame(count);
    };
    count();
    this.write();
  }

  private write(): void {
    const now = performance.now(), {scene, connected, failures, levels} = this.look();
    const perSecond = Math.round(this.frames * 1000 / Math.max(1, now - this.sinceMs));
    this.frames = 0;
    this.sinceMs = now;
    this.element.textContent = [
      `layout ${scene?.selectedLayoutId ?? 'none'}  agent ${connected ? 'connected' : 'away'}  ${perSecond} frames/s`,
      ...Object.entries(levels).map(([id, db]) => `${id}  ${db} dBFS`),
      ...failures.map(({layerId, reason}) => `${layerId}  ${reason}`),
    ].slice(0, LINES).join('\n');
  }
}

export interface Seen {
  readonly scene: Scene | null;
  readonly connected: boolean;
  readonly failures: readonly Failure[];
  readonly levels: Readonly<Record<string, number>>;
}
