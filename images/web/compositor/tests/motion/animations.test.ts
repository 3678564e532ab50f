import assert from 'node:assert/strict';
import {test} from 'node:test';
import {seriesOf, timingOf, type Animation} from '../../src/motion/animations';

const animation = (properties: string[], durationMs: number, given = {}) => ({properties, durationMs, ...given});
const batch = (mode: string, ...layers: [string, object[]][]) =>
  seriesOf({mode, layers: layers.map(([id, requestAnimation]) => ({id, requestAnimation}))});
const of = (found: ReadonlyMap<string, readonly Animation[]>, id: string): readonly Animation[] => found.get(id) ?? [];

test('the last animation that names a property wins', () => {
  const found = of(batch('PARALLEL', ['a', [animation(['*'], 100), animation(['x', 'y'], 200), animation(['x'], 300)]]), 'a');
  assert.equal(timingOf(found, 'x')?.durationMs, 300);
  assert.equal(timingOf(found, 'y')?.durationMs, 200);
  assert.equal(timingOf(found, 'opacity')?.durationMs, 100);
});

test('what no animation names changes at once, as does what takes no time', () => {
  const found = of(batch('PARALLEL', ['a', [animation(['x'], 100), animation(['y'], 0)]]), 'a');
  assert.equal(timingOf(found, 'opacity'), null);
  assert.equal(timingOf(found, 'y'), null);
});

test('side by side all begin with the change', () => {
  const found = batch('PARALLEL', ['a', [animation(['x'], 100)]], ['b', [animation(['x'], 100, {delayMs: 50})]]);
  assert.equal(timingOf(of(found, 'b'), 'x')?.delayMs, 50);
});

test('in series a layer begins when the one before it has ended, its longest animation counting', () => {
  const found = batch(
    'REQUEST_ANIMATION_MODE_SERIES',
    ['a', [animation(['x'], 100), animation(['y'], 100, {delayMs: 200})]], ['b', [animation(['x'], 50, {delayMs: 10})]], ['c', [animation(['x'], 5)]]);
  assert.equal(timingOf(of(found, 'a'), 'x')?.delayMs, 0);
  assert.equal(timingOf(of(found, 'b'), 'x')?.delayMs, 310);
  assert.equal(timingOf(of(found, 'c'), 'x')?.delayMs, 360);
});

test('two updates of the same layer in series are one after the other', () => {
  const found = of(batch('SERIES', ['a', [animation(['width'], 300)]], ['a', [animation(['opacity'], 200)]]), 'a');
  assert.equal(timingOf(found, 'width')?.delayMs, 0);
  assert.equal(timingOf(found, 'opacity')?.delayMs, 300);
});

test('nonsense in an animation is a change at once', () => {
  const found = seriesOf({mode: 4, layers: [{id: 'a', requestAnimation: [null, {properties: 'x', durationMs: 'long', delayMs: -1}]}, {}, 3]});
  assert.equal(timingOf(of(found, 'a'), 'x'), null);
  assert.equal(seriesOf(null).size, 0);
});
