import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';
import {LayerFailures, type Failure} from '../../src/failure/layer_failures';

const MANY = 500;
const soon = (): Promise<void> => new Promise(resolve => setTimeout(resolve));

let told: (readonly Failure[])[], failures: LayerFailures;

beforeEach(() => {
  told = [];
  failures = new LayerFailures(all => told.push(all));
});

test('all that fail at a time are told once', async () => {
  for (let layer = 0; layer < MANY; layer++) failures.set('one', `layer-${layer}`, 'HTTP 404');
  await soon();
  assert.deepEqual(told.map(all => all.length), [MANY]);
  for (let layer = 0; layer < MANY; layer++) failures.set('one', `layer-${layer}`, null);
  await soon();
  assert.deepEqual(told.map(all => all.length), [MANY, 0]);
});

test('what comes to the same is not told', async () => {
  failures.set('one', 'layer', 'HTTP 404');
  failures.set('one', 'layer', null);
  await soon();
  assert.deepEqual(told, []);
  failures.set('one', 'layer', 'HTTP 404');
  await soon();
  failures.set('one', 'layer', null);
  failures.set('one', 'layer', 'HTTP 404');
  await soon();
  assert.equal(told.length, 1);
});
