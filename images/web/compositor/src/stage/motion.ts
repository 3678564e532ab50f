/**
 * Whether fewer animation frames would make anything slower. All that the compositor draws moves by time; a page in a layer may
 * say that it counts its animation frames, by a message to its parent.
 */

const TIME_BASED = 'onair:time-based', FRAME_BASED = 'onair:frame-based';

export class Motion {
  private readonly counting = new WeakSet<object>();
  private said = '';

  /** `say` is called with one of both words, at first and when it changes. */
  constructor(private readonly stage: Element, private readonly say: (word: string) => void) {
    addEventListener('message', ({data, source}) => {
      if (source === null) return;
      if (data === FRAME_BASED) this.counting.add(source);
      else if (data === TIME_BASED) this.counting.delete(source);
      this.tell();
    });
  }

  /** To be called now and then, as layers come and go. */
  tell(): void {
    const frames = [...this.stage.querySelectorAll('iframe')];
    const counted = frames.some(({contentWindow}) => contentWindow !== null && this.counting.has(contentWindow));
    const word = counted ? FRAME_BASED : TIME_BASED;
    if (word === this.said) return;
    this.said = word;
    this.say(word);
  }
}
