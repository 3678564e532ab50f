import assert from 'node:assert/strict';
import {test} from 'node:test';
import {transitionsOf} from '../../src/state/transition';
import {loudnessAt, keyframesOf, type TransitionKeyframes} from '../../src/transition/keyframes';

function keyframes(transition: object): TransitionKeyframes {
  const [parsed] = transitionsOf([transition]);
  const found = parsed && keyframesOf(parsed);
  if (!found) throw new Error('a cut');
  return found;
}

const ends = (steps: TransitionKeyframes['incoming']): unknown[] => [steps.at(0)?.translate, steps.at(-1)?.translate];

test('a crossfade fades the new one in over the old one, and sounds add up to one', () => {
  const {onTop, incoming, outgoing, sound} = keyframes({crossfade: {durationMs: 500}});
  assert.equal(onTop, 'incoming');
  assert.deepEqual(incoming.map(step => step.opacity), [0, 1]);
  assert.deepEqual(outgoing, []);
  sound.incoming.forEach((point, index) => assert.equal(point.gain + (sound.outgoing[index]?.gain ?? NaN), 1));
});

test('loudness is known at any time of a transition, before and after it', () => {
  const points = [{offset: 0, gain: 1}, {offset: 0.5, gain: 0}, {offset: 0.5, gain: 0.2}, {offset: 1, gain: 1}];
  const at = (part: number): number => Math.round(loudnessAt(points, part) * 100) / 100;
  assert.deepEqual([-1, 0, 0.25, 0.5, 0.75, 1, 2].map(at), [1, 1, 0.5, 0.2, 0.6, 1, 1]);
});

test('a colour is whole in the middle, where the layouts are switched', () => {
  const {cover, incoming} = keyframes({fadeToColor: {durationMs: 500, backgroundColor: '#123456'}});
  assert.equal(cover?.color, '#123456');
  assert.deepEqual(cover.keyframes.map(each => each.opacity), [0, 1, 0]);
  assert.deepEqual(incoming.map(step => [step.offset, step.opacity]), [[0, 0], [0.5, 0], [0.5, 1], [1, 1]]);
});

test('swipes go in four directions', () => {
  const ways = {LEFT: '-100% 0%', RIGHT: '100% 0%', UP: '0% -100%', DOWN: '0% 100%'};
  for (const [direction, ahead] of Object.entries(ways)) {
    const {outgoing} = keyframes({swipe: {durationMs: 500, direction: `TRANSITION_DIRECTION_${direction}`}});
    assert.deepEqual(ends(outgoing), ['0% 0%', ahead]);
  }
});

test('both move, or the old one away, or the new one over it', () => {
  const swipe = (type: string): TransitionKeyframes => keyframes({swipe: {durationMs: 500, combinedAnimation: `TRANSITION_SWIPE_TYPE_${type}`}});
  assert.deepEqual(ends(swipe('COMBINED').incoming).map(String), ['100% 0%', '0% 0%']);
  assert.equal(swipe('COMBINED').outgoing.length, 2);
  assert.equal(swipe('SOURCE').onTop, 'outgoing');
  assert.deepEqual(swipe('SOURCE').incoming, []);
  assert.equal(swipe('DESTINATION').onTop, 'incoming');
  assert.deepEqual(swipe('DESTINATION').outgoing, []);
});

test('cuts and what takes no time have no keyframes', () => {
  const [cut, none] = transitionsOf([{cut: {}}, {crossfade: {durationMs: 0}}]);
  assert.equal(cut && keyframesOf(cut), null);
  assert.equal(none && keyframesOf(none), null);
});
