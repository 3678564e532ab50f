/** The project's room, which is joined once something of it is shown, and by a script of its own. */

import type {Joined} from './joined';

export type Feed = 'webcam' | 'screen';

/** What there is of a participant's. */
export interface Shown {
  readonly video: MediaStream | null;
  readonly audio: MediaStream | null;
  /** Whether the participant is in the room; null while that is not known. */
  readonly present: boolean | null;
  /** Why there is nothing, where that is not for the participant. */
  readonly problem: string | null;
}

export interface Watch {
  readonly identity: string;
  readonly feed: Feed;
  readonly show: (shown: Shown) => void;
}

export interface Access {
  readonly url: string;
  readonly token: string;
}

const RETRY_MS = 1000, LONGEST_RETRY_MS = 10_000;

export class Room {
  private readonly watches = new Set<Watch>();
  private access: Access | null = null;
  private joined: Joined | null = null;
  private attempt = 0;
  private retryMs = RETRY_MS;

  /** The room of the project, with the newest token; null where it has none. A connection outlives its token. */
  setAccess(access: Access | null): void {
    const moved = access?.url !== this.access?.url;
    this.access = access;
    if (moved) this.leave();
    this.join();
  }

  /** Shows what a participant has, now and from now on; the returned function ends that. */
  watch(identity: string, feed: Feed, show: (shown: Shown) => void): () => void {
    const watch = {identity, feed, show};
    this.watches.add(watch);
    if (this.joined) this.joined.refresh();
    else {
      this.tell(this.access ? 'the room is being joined' : 'the project has no room');
      this.join();
    }
    return () => {
      this.watches.delete(watch);
      this.joined?.refresh();
    };
  }

  private join(): void {
    const {access} = this;
    if (!access || this.joined || !this.watches.size) return;
    const mine = ++this.attempt;
    void (async () => {
      try {
        const {join} = await import('./joined');
        const joined = await join(access, this.watches, () => this.lost(mine));
        if (mine !== this.attempt) return joined.leave();
        this.joined = joined;
        this.retryMs = RETRY_MS;
        joined.refresh();
      } catch (error) {
        if (mine === this.attempt) this.lost(mine, `the room cannot be joined: ${nameOf(error)}`);
      }
    })();
  }

  private lost(attempt: number, problem = 'the room was left'): void {
    if (attempt !== this.attempt) return;
    this.leave();
    this.tell(problem);
    const mine = this.attempt;
    setTimeout(() => mine === this.attempt && this.join(), this.retryMs);
    this.retryMs = Math.min(this.retryMs * 2, LONGEST_RETRY_MS);
  }

  private leave(): void {
    this.attempt++;
    this.joined?.leave();
    this.joined = null;
  }

  private tell(problem: string): void {
    for (const {show} of this.watches) show({video: null, audio: null, present: this.access ? null : false, problem});
  }
}

/** What kind of error it is. Its message may hold the address, and that the token. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'reasonName' in error && typeof error.reasonName === 'string' ? error.reasonName : error.name;
}
