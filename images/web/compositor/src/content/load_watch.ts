/** Notices a server that hangs while something is loaded from it: the element that loads it says nothing then. */

import {reasonOf} from '../failure/reason';
import type {Retry} from './retry';

/** What loads for so long without getting on has its server asked. */
const SLOW_MS = 5000;

export interface Loading {
  readonly needsCors: boolean;
  /** Takes why it does not come. */
  fail(reason: string): void;
  /** Loads it again: its server responds after it did not. */
  again(url: string): void;
}

export class LoadWatch {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private url: string | null = null;
  private watches = 0;

  constructor(private readonly retry: Retry, private readonly loading: Loading) {}

  /** It begins to load, or does not get on any more. */
  begin(url: string): void {
    this.end();
    this.url = url;
    this.wait(url);
  }

  /** It gets on: what is merely slow is never loaded again. */
  gotOn(): void {
    if (this.url !== null) this.begin(this.url);
  }

  /** It is there, or no longer wanted. */
  end(): void {
    clearTimeout(this.timer);
    this.url = null;
    this.watches++;
  }

  private wait(url: string): void {
    this.timer = setTimeout(() => void this.ask(url, this.watches), SLOW_MS);
  }

  private async ask(url: string, mine: number, failed = false): Promise<void> {
    if (mine !== this.watches) return;
    const reason = await reasonOf(url, '', this.loading.needsCors);
    if (mine !== this.watches) return;
    if (reason !== '') {
      this.loading.fail(reason);
      this.retry.later(() => void this.ask(url, mine, true));
    } else if (failed) this.loading.again(url);
    else this.wait(url);
  }
}
