/** The picture of a video from a URL, in the colours that its frames have. */

import {agentScript} from '../agent/script';
import {sized} from './content';
import {fitOf} from './fit';
import type {Layer} from '../state/layer';

/** Of `/sources/chroma-correction.js`: what a frame has to be for this browser to show it as it is. */
interface ChromaCorrection {
  applies(frame: VideoFrame): boolean;
  corrected(frame: VideoFrame): Promise<VideoFrame>;
}
/** Of `/sources/paint-phase.js`: how often the browser paints. */
interface PaintPhase {
  readonly intervalMs: number | null;
  look(nowMs: number): void;
}

/** Until it is known. */
const PAINT_MS = 1000 / 30;
/** What sound takes to be heard until that is known; frames are held so much more or less than the one before, at most. */
const USUAL_MS = 48, HELD_STEP_MS = 1;

/**
 * Draws the video itself, and over it an element of a stream where its frames have to be others: where the browser takes blue
 * from them, or where they are heard, as what goes through the mixer is heard later than the video is seen.
 */
export class VideoPicture {
  readonly element = document.createElement('div');
  private readonly stream = Object.assign(document.createElement('video'), {autoplay: true, muted: true, playsInline: true});
  private writer: WritableStreamDefaultWriter<VideoFrame> | null = null;
  /** What is pending of the video's frames, and of the page's while it plays. */
  private seen: number | null = null;
  private painted: number | null = null;
  /** Begins to follow the page's frames. */
  private paint: (() => void) | null = null;
  /** Of the video's, in its own time. */
  private writtenUs = NaN;
  private looks = 0;
  /** How long frames are held. */
  private heldMs = USUAL_MS;
  /** Whether it was heard when that was looked at. */
  private isHeld = false;

  /**
   * @param isHeard - whether there is sound to wait for.
   * @param latencyMs - how much later than it is played it is heard; 0 while that is not known.
   */
  constructor(private readonly video: HTMLVideoElement, private readonly isHeard: () => boolean, private readonly latencyMs: () => number) {
    this.element.className = 'pictured';
    this.element.append(video);
    video.addEventListener('loadeddata', () => void this.look());
    // Its first frame may have been looked for in the middle of a seek
    video.addEventListener('seeked', () => void (this.writer ?? this.look()));
    video.addEventListener('playing', () => this.paint?.());
    video.addEventListener('emptied', () => this.close());
    // Whether it has sound may be known only once it plays
    for (const each of ['canplay', 'timeupdate']) video.addEventListener(each, () => this.heard());
    // An element that is taken out of the page is paused
    this.stream.addEventListener('pause', () => void this.stream.play().catch(() => undefined));
  }

  update(layer: Layer): void {
    sized(this.element, layer);
    for (const each of [this.video, this.stream]) {
      sized(each, layer);
      each.style.objectFit = fitOf(layer, 'contain');
    }
  }

  /** To be called when it is heard, or no more. */
  heard(): void {
    if (this.video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA && this.isHeard() !== this.isHeld) void this.look();
  }

  close(): void {
    this.looks++;
    this.end();
  }

  /** Decides by the first frame of what was loaded. */
  private async look(): Promise<void> {
    const mine = ++this.looks;
    this.unfollow();
    this.isHeld = this.isHeard();
    try {
      const [{ChromaCorrection}, {PaintPhase}] = await Promise.all([
        agentScript<{ChromaCorrection: new () => ChromaCorrection}>('chroma-correction.js'),
        agentScript<{PaintPhase: new () => PaintPhase}>('paint-phase.js'),
      ]);
      if (mine !== this.looks) return;
      const frame = new VideoFrame(this.video), chroma = new ChromaCorrection(), applies = chroma.applies(frame);
      // What is seen through would be seen twice
      const isOpaque = !(frame.format?.includes('A') ?? false);
      frame.close();
      if (!applies && !(this.isHeld && isOpaque)) return this.end();
      this.heldMs = this.latencyMs() || USUAL_MS;
      this.begin();
      this.writtenUs = NaN;
      this.follow(chroma, new PaintPhase());
      await this.write(chroma);
    } catch {
      if (mine !== this.looks) return;
      this.isHeld = false;
      this.end();
    }
  }

  private begin(): void {
    if (this.writer) return;
    const track = new MediaStreamTrackGenerator({kind: 'video'});
    this.writer = track.writable.getWriter();
    this.stream.srcObject = new MediaStream([track]);
    this.element.append(this.stream);
  }

  private follow(chroma: ChromaCorrection, phase: PaintPhase): void {
    // As the browser paints: what is written then is seen with this paint or with the next, by chance
    const write = (): void => {
      setTimeout(() => void this.write(chroma).catch(() => undefined), (phase.intervalMs ?? PAINT_MS) / 2);
    };
    const seen = (): void => {
      this.seen = this.video.requestVideoFrameCallback(seen);
      write();
      this.paint?.();
    };
    // Where the page is painted once for each of its frames, a video calls back for two of three
    const painted = (nowMs: number): void => {
      this.painted = this.video.paused ? null : requestAnimationFrame(painted);
      phase.look(nowMs);
      write();
    };
    this.paint = () => {
      if (this.painted === null) painted(performance.now());
    };
    seen();
  }

  private unfollow(): void {
    if (this.seen !== null) this.video.cancelVideoFrameCallback(this.seen);
    if (this.painted !== null) cancelAnimationFrame(this.painted);
    this.seen = this.painted = this.paint = null;
  }

  private async write(chroma: ChromaCorrection): Promise<void> {
    if (!this.writer) return;
    const frame = new VideoFrame(this.video), {timestamp} = frame;
    if (timestamp === this.writtenUs) return frame.close();
    this.writtenUs = timestamp;
    // A video's own times go back where it starts over
    const shown = new VideoFrame(frame, {timestamp: Math.round(performance.now() * 1000)});
    frame.close();
    const mine = this.looks, corrected = await chroma.corrected(shown);
    if (this.isHeld) await this.hold();
    const {writer} = this;
    if (!writer || mine !== this.looks) return corrected.close();
    writer.write(corrected).catch(() => {
      corrected.close();
      if (writer === this.writer) this.end();
    });
  }

  private hold(): Promise<void> {
    const apartMs = (this.latencyMs() || this.heldMs) - this.heldMs;
    this.heldMs += Math.max(-HELD_STEP_MS, Math.min(HELD_STEP_MS, apartMs));
    return new Promise(done => setTimeout(done, this.heldMs));
  }

  private end(): void {
    this.unfollow();
    void this.writer?.close().catch(() => undefined);
    this.writer = null;
    this.stream.remove();
    this.stream.srcObject = null;
  }
}
