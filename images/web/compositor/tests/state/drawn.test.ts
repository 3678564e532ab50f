import assert from 'node:assert/strict';
import {test} from 'node:test';
import {difference, drawnOf} from '../../src/state/drawn';
import {layer, layout, only, root, scene, type Given} from '../layouts';

const drawn = (...layers: Given[]) => drawnOf(only(scene(layout(layers))));
const names = (...layers: Given[]): string[] => [...drawn(...layers).keys()];

test('what hangs on the root is drawn, and what is detached is not', () => {
  assert.deepEqual(names(root('a'), layer('a', {children: ['b']}), layer('b'), layer('loose')), ['root', 'a', 'b']);
});

test('the last child is on top', () => {
  const found = drawn(root('a', 'b'), layer('b'), layer('a'));
  assert.ok((found.get('b')?.order ?? 0) > (found.get('a')?.order ?? 0));
});

test('cycles and layers that are named twice end, each drawn once', () => {
  const layers = [root('a', 'b', 'b'), layer('a', {children: ['b', 'a', 'root']}), layer('b', {children: ['a']})];
  assert.deepEqual(names(...layers), ['root', 'a', 'b']);
});

test('children that do not exist are passed over', () => {
  assert.deepEqual(names(root('missing', '__proto__', 'a'), layer('a')), ['root', 'a']);
});

test('without a root nothing is drawn; of several the one that no layer names is the root', () => {
  assert.deepEqual(names(layer('a')), []);
  const inner = layer('inner', {type: 'root', children: ['a']});
  assert.deepEqual(names(inner, layer('top', {type: 'root', children: ['inner']}), layer('a')), ['top', 'inner', 'a']);
});

test('what is in a hidden layer is hidden', () => {
  const found = drawn(root('a'), layer('a', {hidden: true, children: ['b']}), layer('b'));
  assert.equal(found.get('b')?.hidden, true);
  assert.equal(found.get('root')?.hidden, false);
});

test('a chain of a thousand layers is drawn', () => {
  const chain = Array.from({length: 1000}, (_, index) => layer(`${index}`, {children: [`${index + 1}`]}));
  assert.equal(drawn(root('0'), ...chain).size, 1001);
});

test('a difference names what is gone, new and changed, and a new type as a new layer', () => {
  const before = drawn(root('a', 'b', 'c'), layer('a'), layer('b'), layer('c'));
  const after = drawn(root('c', 'a', 'd'), layer('a', {type: 'text'}), layer('c'), layer('d'));
  const {gone, added, changed} = difference(before, after);
  assert.deepEqual([...gone], ['a', 'b']);
  assert.deepEqual(added.map(each => each.layer.id), ['a', 'd']);
  assert.deepEqual(changed.map(each => each.after.layer.id), ['root', 'c']);
});

test('two drawings of the same layout differ in nothing', () => {
  const one = drawn(root('a'), layer('a'));
  assert.deepEqual(difference(one, one), {gone: [], added: [], changed: []});
});
