/** A transition that runs: two layouts by animations, a stinger by its media. */

import type {SceneView} from '../stage/scene_view';
import type {TransitionKeyframes} from './keyframes';

export interface Running {
  /** Resolved once it has ended, at its time or before. */
  readonly done: Promise<void>;
  /** Ends it at once, on the new layout. */
  finish(): void;
}

/** Runs it by its keyframes; the new layout is on air from now on, the old one until it ends. */
export function run(keyframes: TransitionKeyframes, outgoing: SceneView, incoming: SceneView, stage: HTMLElement): Running {
  const timing = {duration: keyframes.durationMs, fill: 'both' as const};
  const on = keyframes.onTop === 'incoming' ? incoming : outgoing;
  on.element.style.zIndex = '1';
  incoming.setOnAir(true);
  // The timeline of one that does not move
  const animations = [incoming.element.animate([...keyframes.incoming], timing), outgoing.element.animate([...keyframes.outgoing], timing)];
  let cover: HTMLElement | null = null;
  if (keyframes.cover) {
    cover = Object.assign(document.createElement('div'), {className: 'cover'});
    cover.style.zIndex = '2';
    cover.style.backgroundColor = CSS.supports('color', keyframes.cover.color) ? keyframes.cover.color : '#000';
    stage.append(cover);
    animations.push(cover.animate([...keyframes.cover.keyframes], timing));
  }
  for (const animation of animations) animation.id = 'transition';
  incoming.bus.follow(keyframes.sound.incoming, keyframes.durationMs);
  outgoing.bus.follow(keyframes.sound.outgoing, keyframes.durationMs);
  const done = Promise.all(animations.map(animation => animation.finished)).then(() => {
    outgoing.setOnAir(false);
    for (const animation of animations) animation.cancel();
    on.element.style.zIndex = '';
    cover?.remove();
  });
  return {
    done,
    finish() {
      for (const animation of animations) animation.finish();
      incoming.bus.set(1);
      outgoing.bus.set(0);
    },
  };
}

/** Without a transition. */
export function cut(outgoing: SceneView | null, incoming: SceneView | null): void {
  incoming?.setOnAir(true);
  incoming?.bus.set(1);
  outgoing?.setOnAir(false);
  outgoing?.bus.set(0);
}
