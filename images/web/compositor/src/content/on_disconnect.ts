/** What stands for a live picture while there is none: `onDisconnect` slate, hide or remain. */

import {image} from './image';
import {sized, type Content, type ContentContext} from './content';
import {KeptPicture} from './kept_picture';
import type {Layer} from '../state/layer';
import {nextFrame} from '../stage/waiting';
import {textAt} from '../state/json';

/** How many frames of the page a video may take until it is on the screen. */
const COVERED_FRAMES = 6;
/** At most one step of 255 of a colour: the browser goes on drawing the video, and nobody sees it. */
const FAINT = '0.004';

export type OnDisconnect = 'slate' | 'hide' | 'remain';

/** Without a wish, or with one that is unknown: the slate if there is one. */
export function onDisconnectOf(layer: Layer): OnDisconnect {
  const wanted = textAt(layer.data, 'onDisconnect'), slate = textAt(layer.data, 'disconnectedSlate', 'url');
  if (wanted === 'remain' || wanted === 'hide') return wanted;
  return slate === null ? 'hide' : 'slate';
}

/** A video element, and in front of it the slate, until there is a picture. */
export class LivePicture {
  readonly element = document.createElement('div');
  readonly video = Object.assign(document.createElement('video'), {autoplay: true, muted: true, playsInline: true});
  private readonly kept: KeptPicture;
  private slate: Content | null = null;
  private slateProblem: string | null = null;
  private problem: string | null = null;
  private isConnected = false;
  /** A frame was shown since it connected: what the element shows before that is of the last time, or nothing. */
  private isSeen = false;
  /** What stands for it is seen, and goes only when the first frame has had time to come to the screen. */
  private isCovered = false;
  private connections = 0;

  constructor(private layer: Layer, private readonly context: ContentContext, isOfRoom: boolean) {
    this.kept = new KeptPicture(this.video, isOfRoom, () => this.show());
    this.element.append(this.video, this.kept.element);
    this.update(layer);
  }

  update(layer: Layer): void {
    if (onDisconnectOf(layer) !== onDisconnectOf(this.layer)) this.isCovered = false;
    this.layer = layer;
    sized(this.element, layer);
    for (const each of [this.video, this.kept.element]) {
      sized(each, layer);
      each.style.objectFit = textAt(layer.data, 'fit') ?? 'contain';
    }
    this.kept.isWanted = onDisconnectOf(layer) === 'remain';
    const pictured = asImage(layer);
    if (!this.slate && onDisconnectOf(layer) === 'slate') {
      const fail = (reason: string | null): void => {
        this.slateProblem = reason;
        this.tell();
      };
      this.slate = image(pictured, {...this.context, fail});
      if (this.slate.element) {
        this.slate.element.style.cssText += 'position: absolute; inset: 0';
        this.element.append(this.slate.element);
      }
    } else this.slate?.update(pictured);
    this.show();
  }

  /** Shows another stream. Where the last picture is to remain, it does so until this one has its first. */
  take(stream: MediaStream): void {
    if (this.video.srcObject === stream) return;
    if (this.video.srcObject !== null && onDisconnectOf(this.layer) === 'remain') this.isCovered = this.kept.keepNow();
    this.setConnected(false);
    this.video.srcObject = stream;
  }

  /** What comes is of somebody else. */
  forget(): void {
    this.kept.forget();
    this.isCovered = false;
  }

  /** Whether pictures are coming; the first of them takes the place of what stands for it. */
  setConnected(isConnected: boolean): void {
    if (isConnected === this.isConnected) return;
    this.isConnected = isConnected;
    this.isSeen = false;
    const mine = ++this.connections;
    if (isConnected) {
      this.video.requestVideoFrameCallback(() => {
        if (mine !== this.connections) return;
        this.isSeen = true;
        this.show();
      });
    }
    this.show();
  }

  /** Why there is no picture; null if there is nothing to report. */
  fail(problem: string | null): void {
    this.problem = problem;
    this.tell();
  }

  close(): void {
    this.connections++;
    this.kept.close();
    this.slate?.close();
    this.video.srcObject = null;
  }

  private tell(): void {
    const {problem, slateProblem} = this;
    const slate = problem !== null && slateProblem !== null && onDisconnectOf(this.layer) === 'slate';
    this.context.fail(slate ? `${problem}; disconnectedSlate: ${slateProblem}` : problem);
  }

  private show(): void {
    const wish = onDisconnectOf(this.layer), {isBlank} = this.kept, isSeen = this.isSeen && !isBlank;
    if (!isSeen) this.isCovered = isBlank || wish === 'slate' || (wish === 'remain' && this.isCovered);
    else if (this.isCovered) void this.uncover(this.connections);
    const remains = this.isCovered && wish === 'remain';
    this.kept.element.style.display = remains ? 'block' : 'none';
    const isShown = isSeen ? wish !== 'slate' || !this.isCovered : wish === 'remain' && !isBlank;
    Object.assign(this.video.style, {
      // A blank one has no size of its own, nor has one without a frame
      display: 'block', position: isBlank || remains ? 'absolute' : '',
      // The browser empties a hidden video's place on the screen, and fills it some frames after it is shown again
      visibility: isShown || (this.isConnected && !isBlank) ? '' : 'hidden',
      opacity: isShown ? '' : FAINT,
    });
    if (this.slate?.element) this.slate.element.style.visibility = this.isCovered && wish === 'slate' ? '' : 'hidden';
  }

  /** Takes away what stands for the picture, once that is on the screen. */
  private async uncover(connection: number): Promise<void> {
    for (let frame = 0; frame < COVERED_FRAMES; frame++) await nextFrame();
    if (connection !== this.connections || !this.isSeen || this.kept.isBlank || !this.isCovered) return;
    this.isCovered = false;
    this.show();
  }
}

function asImage(layer: Layer): Layer {
  const url = textAt(layer.data, 'disconnectedSlate', 'url');
  return {...layer, data: {media: {url: url ?? ''}, fit: textAt(layer.data, 'fit') ?? 'contain'}};
}
