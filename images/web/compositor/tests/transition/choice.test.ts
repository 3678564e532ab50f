import assert from 'node:assert/strict';
import {test} from 'node:test';
import {transitionsOf} from '../../src/state/transition';
import {choose} from '../../src/transition/choice';

const TRANSITIONS = transitionsOf([
  {fromLayoutIds: ['a'], crossfade: {durationMs: 100}},
  {fromLayoutIds: ['a', 'b'], crossfade: {durationMs: 200}},
  {fromLayoutIds: [], fadeToColor: {durationMs: 300, backgroundColor: 'red'}},
]);

function chosen(from: string | null, random: number): unknown {
  const transition = choose(TRANSITIONS, from, () => random);
  return 'durationMs' in transition ? transition.durationMs : transition.kind;
}

test('one that names the layout it comes from is preferred', () => {
  assert.equal(chosen('b', 0.9), 200);
  assert.equal(chosen('c', 0.9), 300);
});

test('of several that match one is taken at random', () => {
  assert.equal(chosen('a', 0), 100);
  assert.equal(chosen('a', 0.999), 200);
});

test('the first layout comes by a cut, as does one without transitions', () => {
  assert.equal(chosen(null, 0), 'cut');
  assert.equal(choose([], 'a', () => 0).kind, 'cut');
});

test('values of enumerations that are unknown are the defaults, and an unknown transition is a cut', () => {
  const [swipe, unknown, stinger] = transitionsOf([
    {swipe: {durationMs: 5, direction: 'TRANSITION_DIRECTION_INWARDS'}}, {cube: {durationMs: 5}}, {stinger: {cut: {cutPointMs: 4}}}]);
  assert.deepEqual(swipe, {kind: 'swipe', fromLayoutIds: [], durationMs: 5, direction: 'LEFT', moves: 'COMBINED'});
  assert.equal(unknown?.kind, 'cut');
  assert.equal(stinger?.kind, 'cut');
});
