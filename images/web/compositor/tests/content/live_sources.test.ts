import assert from 'node:assert/strict';
import {test} from 'node:test';
import {jitterBufferMs} from '../../src/content/live_sources';

test('sources get the target latency as their jitter buffer, as far as decoded frames last', () => {
  assert.deepEqual([100, 500, 1000, 5000].map(jitterBufferMs), [100, 500, 1000, 1000]);
});
