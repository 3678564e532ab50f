/** The last picture of a video that its sender takes back: room servers send black frames of a few pixels when a participant leaves. */

const MOST_BLANK_PIXELS = 16 * 16;
/** A picture is kept so often: it costs as much as a frame. */
const KEPT_EVERY_MS = 500;

export class KeptPicture {
  readonly element = document.createElement('canvas');
  /** What the video shows now is none of its pictures. */
  isBlank = false;
  /** Whether there is a use for a picture. */
  isWanted = false;
  private keptAtMs = -Infinity;
  private isClosed = false;

  /** `isOfRoom`: nobody else takes pictures back. */
  constructor(private readonly video: HTMLVideoElement, isOfRoom: boolean, private readonly changed: () => void) {
    if (isOfRoom) this.follow();
  }

  /** Keeps what the video shows, if that is a picture; returns whether there is one. */
  keepNow(): boolean {
    const {videoWidth: width, videoHeight: height, readyState} = this.video;
    if (readyState >= HTMLMediaElement.HAVE_CURRENT_DATA && !isBlank(width, height)) this.keep(performance.now(), width, height);
    return this.keptAtMs > -Infinity;
  }

  /** It is of somebody else. */
  forget(): void {
    this.keptAtMs = -Infinity;
    this.isBlank = false;
  }

  close(): void {
    this.isClosed = true;
  }

  private follow(): void {
    this.video.requestVideoFrameCallback((nowMs, {width, height}) => {
      if (this.isClosed) return;
      const blank = isBlank(width, height);
      if (!blank && this.isWanted && nowMs - this.keptAtMs >= KEPT_EVERY_MS) this.keep(nowMs, width, height);
      if (blank !== this.isBlank) {
        this.isBlank = blank;
        this.changed();
      }
      this.follow();
    });
  }

  private keep(nowMs: number, width: number, height: number): void {
    this.keptAtMs = nowMs;
    Object.assign(this.element, {width, height});
    this.element.getContext('2d', {alpha: false})?.drawImage(this.video, 0, 0);
  }
}

function isBlank(width: number, height: number): boolean {
  return width * height <= MOST_BLANK_PIXELS;
}
