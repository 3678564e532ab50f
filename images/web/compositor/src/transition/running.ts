/** A transition that runs: two layouts by animations, a stinger by its media. */

import type {SceneView} from '../stage/scene_view';
import type {Plan} from './plan';

export interface Running {
  /** Resolved once it has ended, at its time or before. */
  readonly done: Promise<void>;
  /** Ends it at once, on the new layout. */
  finish(): void;
}

/** Runs a plan; the new layout is on air from now on, the old one until it ends. */
export function run(plan: Plan, outgoing: SceneView, incoming: SceneView, stage: HTMLElement): Running {
  const timing = {duration: plan.durationMs, fill: 'both' as const};
  const on = plan.onTop === 'incoming' ? incoming : outgoing;
  on.element.style.zIndex = '1';
  incoming.setOnAir(true);
  // The timeline of one that does not move
  const animations = [incoming.element.animate([...plan.incoming], timing), outgoing.element.animate([...plan.outgoing], timing)];
  let cover: HTMLElement | null = null;
  if (plan.cover) {
    cover = Object.assign(document.createElement('div'), {className: 'cover'});
    cover.style.zIndex = '2';
    cover.style.backgroundColor = CSS.supports('color', plan.cover.color) ? plan.cover.color : '#000';
    stage.append(cover);
    animations.push(cover.animate([...plan.cover.steps], timing));
  }
  for (const animation of animations) animation.id = 'transition';
  incoming.bus.follow(plan.sound.incoming, plan.durationMs);
  outgoing.bus.follow(plan.sound.outgoing, plan.durationMs);
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
