import assert from 'node:assert/strict';
import {afterEach, beforeEach, mock, test} from 'node:test';
import {LoadWatch} from '../../src/content/load_watch';
import {Retry} from '../../src/content/retry';

const URL = 'http://media/picture.png', SLOW_MS = 5000, TIMEOUT_MS = 5000, FIRST_RETRY_MS = 1000;
const soon = (): Promise<void> => new Promise(setImmediate);

let asked: number, hangs: boolean, failed: string[], again: string[], watch: LoadWatch;

beforeEach(() => {
  mock.timers.enable({apis: ['setTimeout']});
  asked = 0;
  hangs = false;
  failed = [];
  again = [];
  mock.method(globalThis, 'fetch', (_: string, {signal}: RequestInit) => {
    asked++;
    if (!hangs) return Promise.resolve(new Response('', {status: 206}));
    return new Promise((_, reject) => {
      if (signal?.aborted) reject(new Error('aborted'));
      signal?.addEventListener('abort', () => reject(new Error('aborted')));
    });
  });
  watch = new LoadWatch(new Retry(), {needsCors: false, fail: reason => failed.push(reason), again: url => again.push(url)});
});

afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms);
  for (let count = 0; count < 5; count++) await soon();
}

test('nobody is asked about what loads in time', async () => {
  watch.begin(URL);
  await pass(SLOW_MS - 1);
  watch.end();
  await pass(10 * SLOW_MS);
  assert.equal(asked, 0);
});

test('a server that hangs is told, and what it had to give is loaded again once it responds', async () => {
  hangs = true;
  watch.begin(URL);
  await pass(SLOW_MS);
  assert.deepEqual(failed, []);
  await pass(TIMEOUT_MS);
  assert.deepEqual(failed, ['its server is unreachable']);
  await pass(FIRST_RETRY_MS);
  await pass(TIMEOUT_MS);
  assert.equal(failed.length, 2);
  assert.deepEqual(again, []);
  hangs = false;
  await pass(2 * FIRST_RETRY_MS);
  assert.deepEqual(again, [URL]);
  assert.equal(failed.length, 2);
});

test('what is slow is left alone while its server responds, however long that takes', async () => {
  watch.begin(URL);
  for (let count = 1; count <= 20; count++) {
    await pass(SLOW_MS);
    assert.equal(asked, count);
  }
  assert.deepEqual([failed, again], [[], []]);
});

test('what gets on is never loaded again, though its server was silent', async () => {
  hangs = true;
  watch.begin(URL);
  await pass(SLOW_MS);
  await pass(TIMEOUT_MS);
  hangs = false;
  watch.gotOn();
  for (let count = 0; count < 20; count++) {
    await pass(SLOW_MS - 1);
    watch.gotOn();
  }
  assert.deepEqual([failed.length, again], [1, []]);
});

test('what is no longer wanted is neither told nor loaded', async () => {
  hangs = true;
  watch.begin(URL);
  await pass(SLOW_MS);
  watch.end();
  watch.gotOn();
  await pass(TIMEOUT_MS);
  await pass(10 * SLOW_MS);
  assert.deepEqual([failed, again], [[], []]);
});
