/** The project's room, which is joined once something of it is shown, and by a script of its own. */

import type {HeldSound} from './held_track';
import type {JoinedRoom, join} from './joined';

export type ParticipantFeed = 'webcam' | 'screen';

/** Sound that a participant sends. */
export interface SentSound {
  readonly id: string;
  hold(context: AudioContext): HeldSound;
}

/** What there is of a participant's. */
export interface Shown {
  readonly video: MediaStream | null;
  readonly audio: SentSound | null;
  /** Whether the participant is in the room; null while that is not known. */
  readonly present: boolean | null;
  /** Whether they send a video that has yet to come. */
  readonly isComing: boolean;
  /** Why there is nothing, where that is not for the participant. */
  readonly problem: string | null;
}

export interface ParticipantWatch {
  readonly identity: string;
  readonly feed: ParticipantFeed;
  readonly show: (shown: Shown) => void;
}

export interface PageRoom {
  readonly url: string;
  readonly token: string;
}

const RETRY_MS = 1000, LONGEST_RETRY_MS = 10_000;

const JOINING = 'the room is being joined', NONE = 'the project has no room';

export class Room {
  private readonly watches = new Set<ParticipantWatch>();
  private access: PageRoom | null | undefined;
  private joined: JoinedRoom | null = null;
  private isJoining = false;
  private attempt = 0;
  private problem = JOINING;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private retryMs = RETRY_MS;

  /** @param load - the client, once a room is to be joined. */
  constructor(private readonly load: () => Promise<{readonly join: typeof join}> = () => import('./joined')) {}

  /**
   * The room of the project, with the newest token; null where it has none. A connection outlives its token.
   * While it is not known, as after a restart of the agent without the facade, what has been joined stays.
   */
  setAccess(access: PageRoom | null | undefined): void {
    if (access === undefined) return;
    const {access: before} = this, isOther = before === undefined || access?.url !== before?.url;
    this.access = access;
    if (isOther) {
      this.leave();
      this.tell(access ? JOINING : NONE);
    } else if (access?.token === before?.token) return;
    // What failed with the token before may be tried with this one
    this.endRetry();
    this.join();
  }

  /** Shows what a participant has, now and from now on; the returned function ends that. */
  watch(identity: string, feed: ParticipantFeed, show: (shown: Shown) => void): () => void {
    const watch = {identity, feed, show};
    this.watches.add(watch);
    if (this.joined) this.joined.refresh();
    else {
      show(this.nothing());
      this.join();
    }
    return () => {
      this.watches.delete(watch);
      this.joined?.refresh();
    };
  }

  private join(): void {
    const {access} = this;
    if (!access || this.joined || this.isJoining || this.retry !== undefined || !this.watches.size) return;
    const mine = ++this.attempt;
    this.isJoining = true;
    void (async () => {
      try {
        const {join} = await this.load();
        const joined = await join(access, this.watches, () => this.lost(mine));
        if (mine !== this.attempt) return joined.leave();
        this.isJoining = false;
        this.joined = joined;
        this.retryMs = RETRY_MS;
        joined.refresh();
      } catch (error) {
        this.lost(mine, `the room cannot be joined: ${nameOf(error)}`);
      }
    })();
  }

  private lost(attempt: number, problem = 'the room was left'): void {
    if (attempt !== this.attempt) return;
    this.leave();
    this.tell(problem);
    this.retry = setTimeout(() => {
      this.retry = undefined;
      this.join();
    }, this.retryMs);
    this.retryMs = Math.min(this.retryMs * 2, LONGEST_RETRY_MS);
  }

  private leave(): void {
    this.attempt++;
    this.isJoining = false;
    this.endRetry();
    this.joined?.leave();
    this.joined = null;
  }

  private endRetry(): void {
    clearTimeout(this.retry);
    this.retry = undefined;
  }

  private tell(problem: string): void {
    this.problem = problem;
    for (const {show} of this.watches) show(this.nothing());
  }

  private nothing(): Shown {
    return {video: null, audio: null, present: this.access === null ? false : null, isComing: false, problem: this.problem};
  }
}

/** What kind of error it is. Its message may hold the address, and that the token. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'reasonName' in error && typeof error.reasonName === 'string' ? error.reasonName : error.name;
}
