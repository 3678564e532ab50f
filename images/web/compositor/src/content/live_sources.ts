/** Live sources by id, each decoded once for all layers that show it; by the agent's own script. */

import {agentScript} from '../agent/script';

/** Of `/sources/source.js`, see docs/reference/page-sources.md. */
interface Source extends EventTarget {
  readonly connected: boolean;
  readonly sendsVideo: boolean;
  readonly video: HTMLVideoElement;
  readonly audio: AudioNode;
  readonly clock: {delayMs: number};
  drawnBy(element: HTMLVideoElement): () => void;
  look(): void;
  close(): void;
}
interface Script {
  readonly Source: new (id: string, options: {audioContext: AudioContext; delayMs: number}) => Source;
}

/** For more there are not enough decoded frames. */
const MOST_MS = 1000;
/** A source that is shown again within this time goes on. */
const LINGER_MS = 2000;

export function jitterBufferMs(targetLatencyMs: number): number {
  return Math.min(MOST_MS, targetLatencyMs);
}

/** A source as one layer has it. */
export interface Taken {
  readonly track: MediaStreamTrack;
  readonly audio: AudioNode;
  connected(): boolean;
  /** Whether it has said so: its first frame may come seconds later. */
  sendsVideo(): boolean;
  /** Calls back at once, and whenever it connects or disconnects. */
  follow(listener: (connected: boolean) => void): void;
  /** Says which element draws it: pictures are not larger than is needed. To be called again as the element's size changes. */
  drawnBy(element: HTMLVideoElement): void;
  release(): void;
}

interface Shared {
  readonly source: Source;
  readonly track: MediaStreamTrack;
  takers: number;
  end: ReturnType<typeof setTimeout> | undefined;
}

export class LiveSources {
  private readonly shared = new Map<string, Promise<Shared>>();
  private delayMs = jitterBufferMs(500);

  constructor(private readonly audioContext: () => BaseAudioContext) {}

  setTargetLatency(targetLatencyMs: number): void {
    this.delayMs = jitterBufferMs(targetLatencyMs);
    for (const each of this.shared.values()) void each.then(({source}) => { source.clock.delayMs = this.delayMs; });
  }

  async take(id: string): Promise<Taken> {
    let opening = this.shared.get(id);
    if (!opening) {
      opening = this.open(id);
      this.shared.set(id, opening);
      opening.catch(() => this.shared.delete(id));
    }
    const shared = await opening;
    shared.takers++;
    clearTimeout(shared.end);
    const {source, track} = shared, listening = new AbortController();
    let undrawn: (() => void) | null = null;
    return {
      track,
      audio: source.audio,
      connected: () => source.connected,
      sendsVideo: () => source.sendsVideo,
      follow(listener) {
        const tell = (): void => listener(source.connected);
        source.addEventListener('connect', tell, {signal: listening.signal});
        source.addEventListener('disconnect', tell, {signal: listening.signal});
        tell();
      },
      drawnBy(element) {
        undrawn ??= source.drawnBy(element);
        source.look();
      },
      release: () => {
        listening.abort();
        undrawn?.();
        if (--shared.takers === 0) shared.end = setTimeout(() => this.close(id, shared), LINGER_MS);
      },
    };
  }

  private async open(id: string): Promise<Shared> {
    const {Source} = await agentScript<Script>('source.js'), audioContext = this.audioContext();
    if (!(audioContext instanceof AudioContext)) throw new Error('sources only play in real time');
    const source = new Source(id, {audioContext, delayMs: this.delayMs});
    const stream = source.video.srcObject;
    const track = stream instanceof MediaStream ? stream.getVideoTracks()[0] : undefined;
    if (!track) throw new Error('the source has no video track');
    // Each layer has an element of its own
    source.video.srcObject = null;
    return {source, track, takers: 0, end: undefined};
  }

  private close(id: string, {source}: Shared): void {
    this.shared.delete(id);
    source.close();
  }
}
