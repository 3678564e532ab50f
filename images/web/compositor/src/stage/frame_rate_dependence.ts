/**
 * Whether fewer animation frames would make anything slower. All that the compositor draws moves by time; a page in a layer may
 * say that it counts its animation frames, by a message to its parent.
 */

const TIME_BASED = 'onair:time-based', FRAME_BASED = 'onair:frame-based';

export class FrameRateDependence {
  /** What each frame showed when its page said that it counts. */
  private readonly counting = new WeakMap<HTMLIFrameElement, string>();
  private said = '';

  /** `say` is called with either word, at first and when it changes. */
  constructor(private readonly stage: Element, private readonly say: (word: string) => void) {
    addEventListener('message', ({data, source}) => {
      if (data !== FRAME_BASED && data !== TIME_BASED) return;
      const frame = this.frames().find(({contentWindow}) => contentWindow !== null && contentWindow === source);
      if (frame === undefined) return;
      if (data === FRAME_BASED) this.counting.set(frame, frame.src);
      else this.counting.delete(frame);
    });
  }

  /** To be called now and then, as layers and words come and go. */
  tell(): void {
    const counted = this.frames().some(frame => this.counting.get(frame) === frame.src);
    const word = counted ? FRAME_BASED : TIME_BASED;
    if (word === this.said) return;
    this.said = word;
    this.say(word);
  }

  private frames(): HTMLIFrameElement[] {
    return [...this.stage.querySelectorAll('iframe')];
  }
}
