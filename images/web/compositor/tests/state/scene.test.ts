import assert from 'node:assert/strict';
import {test} from 'node:test';
import {messageOf, type LayersChange} from '../../src/state/agent_message';
import {changed, following} from '../../src/state/scene';
import {layer, layout, only, root, scene, type Given} from '../layouts';

function change(given: Given): LayersChange {
  const message = messageOf(JSON.stringify({type: 'layers', layoutId: 'one', version: 2, upsert: [], remove: [], animation: null, ...given}));
  if (message?.type !== 'layers') throw new Error('not a change');
  return message.change;
}

test('a change puts, replaces and removes layers', () => {
  const after = changed(scene(layout([root('a'), layer('a')])), change({upsert: [layer('b'), root('b')], remove: ['a']}));
  assert.deepEqual([...only(after).layers.keys()].sort(), ['b', 'root']);
  assert.equal(only(after).version, 2);
});

test('a change that is not newer, or of another layout, changes nothing', () => {
  const before = scene(layout([root()], {version: 5}));
  assert.equal(changed(before, change({version: 5, remove: ['root']})), before);
  assert.equal(changed(before, change({version: 9, layoutId: 'other'})), before);
});

test('layers that did not change stay the same objects', () => {
  const before = scene(layout([root('a', 'b'), layer('a'), layer('b')]));
  const after = changed(before, change({upsert: [layer('a', {x: 5}), layer('b')]}));
  assert.equal(only(after).layers.get('b'), only(before).layers.get('b'));
  assert.notEqual(only(after).layers.get('a'), only(before).layers.get('a'));
});

test('a state is taken as it is, whatever its versions, and what stays the same stays the same objects', () => {
  const before = scene(layout([root('a'), layer('a')], {version: 7}));
  const after = following(before, scene(layout([root('a'), layer('a')], {version: 3}), layout([], {id: 'two'})));
  assert.equal(only(after).version, 3);
  assert.equal(only(after).layers, only(before).layers);
  assert.ok(after.layouts.has('two'));
});

test('values out of bounds, of other types, huge or not a number become what can be drawn', () => {
  const text = `{"type": "state", "canvas": {"width": 1e999, "height": "nonsense"}, "targetLatencyMs": -1, "layouts": [
    {"id": "one", "version": "12", "type": "NEW_KIND", "width": 0, "layers": [
      {"id": "a", "type": 7, "x": 1e999, "y": "12", "width": -5, "height": null, "scale": 1e30, "rotation": "NaN",
       "opacity": -3, "hidden": "yes", "children": ["b", 3, null], "data": [1]}, null, {"type": "text"}, 5]}, {"id": ""}, 4]}`;
  const message = messageOf(text);
  assert.equal(message?.type, 'state');
  const {canvas, layouts} = message.scene;
  assert.deepEqual(canvas, {width: 10_000, height: 720});
  assert.equal(layouts.size, 1);
  assert.equal(layouts.get('one')?.version, 12);
  assert.equal(layouts.get('one')?.width, 10_000);
  assert.deepEqual([...layouts.get('one')?.layers.values() ?? []], [{
    id: 'a', type: '', children: ['b'], x: 10_000, y: 12, width: 0, height: null, scale: 4, rotation: 0, opacity: 0,
    hidden: false, data: {},
  }]);
});

test('of two layers with the same id the last counts', () => {
  const {layers} = only(scene(layout([layer('a', {x: 1}), layer('a', {x: 2})])));
  assert.equal(layers.get('a')?.x, 2);
});

test('what is no message is none', () => {
  for (const text of ['', '{', 'null', '[]', '"state"', '{"type":"later"}', '{"type":"layers"}']) assert.equal(messageOf(text), null);
});
