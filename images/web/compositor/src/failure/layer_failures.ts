/** Layers that cannot be shown, and why. */

export interface Failure {
  readonly layoutId: string;
  readonly layerId: string;
  readonly reason: string;
}

const LONGEST_REASON = 200;

export class LayerFailures {
  private readonly known = new Map<string, Failure>();
  private told = '[]';
  private telling: ReturnType<typeof setTimeout> | undefined;

  /** @param changed - called with all of them, once for all that changes at a time. */
  constructor(private readonly changed: (failures: readonly Failure[]) => void) {}

  get all(): readonly Failure[] {
    return [...this.known.values()];
  }

  /** @param reason - null where the layer is shown. */
  set(layoutId: string, layerId: string, reason: string | null): void {
    const key = JSON.stringify([layoutId, layerId]);
    if (reason === null) this.known.delete(key);
    else this.known.set(key, {layoutId, layerId, reason: reason.slice(0, LONGEST_REASON)});
    this.telling ??= setTimeout(() => this.tell());
  }

  private tell(): void {
    this.telling = undefined;
    const text = JSON.stringify(this.all);
    if (text === this.told) return;
    this.told = text;
    this.changed(this.all);
  }
}
