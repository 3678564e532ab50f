import assert from 'node:assert/strict';
import {beforeEach, mock, test} from 'node:test';
import type {JoinedRoom} from '../../src/room/joined';
import {Room, type PageRoom, type Shown} from '../../src/room/room';

interface Attempt {
  readonly access: PageRoom;
  readonly lost: () => void;
  hasLeft: boolean;
  succeed(): void;
  fail(): void;
}

const ACCESS = {url: 'ws://one', token: 'first'}, RENEWED = {url: 'ws://one', token: 'second'}, ELSEWHERE = {url: 'ws://two', token: 'first'};
const soon = (): Promise<void> => new Promise(setImmediate);

let attempts: Attempt[], shown: Shown[], room: Room;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({apis: ['setTimeout']});
  attempts = [];
  shown = [];
  room = new Room(async () => ({
    join: (access, _, lost) => new Promise<JoinedRoom>((resolve, reject) => {
      const attempt: Attempt = {
        access, lost, hasLeft: false,
        succeed: () => resolve({refresh: () => undefined, leave: () => { attempt.hasLeft = true; }}),
        fail: () => reject(new TypeError('no')),
      };
      attempts.push(attempt);
    }),
  }));
});

function watch(): () => void {
  return room.watch('guest', 'webcam', each => shown.push(each));
}

function attempt(number: number): Attempt {
  const found = attempts[number];
  assert.ok(found, `${attempts.length} attempts`);
  return found;
}

test('a room is joined once, whatever comes meanwhile', async () => {
  room.setAccess(ACCESS);
  for (let count = 0; count < 3; count++) watch();
  for (let count = 0; count < 30; count++) room.setAccess(ACCESS);
  room.setAccess(RENEWED);
  await soon();
  assert.equal(attempts.length, 1);
  attempt(0).succeed();
  await soon();
  room.setAccess(ACCESS);
  watch();
  await soon();
  assert.equal(attempts.length, 1);
});

test('what failed is tried again later and later, however often the scene changes', async () => {
  room.setAccess(ACCESS);
  watch();
  await soon();
  for (const delayMs of [1000, 2000, 4000]) {
    const count = attempts.length;
    attempt(count - 1).fail();
    await soon();
    room.setAccess(ACCESS);
    watch();
    mock.timers.tick(delayMs - 1);
    await soon();
    assert.equal(attempts.length, count);
    mock.timers.tick(1);
    await soon();
    assert.equal(attempts.length, count + 1);
  }
  assert.equal(shown.at(-1)?.problem, 'the room cannot be joined: TypeError');
});

test('a new token is tried at once where the one before failed', async () => {
  room.setAccess(ACCESS);
  watch();
  await soon();
  attempt(0).fail();
  await soon();
  room.setAccess(RENEWED);
  await soon();
  assert.equal(attempt(1).access, RENEWED);
});

test('a room stays joined while nobody knows what it is joined with, and is left once there is none', async () => {
  room.setAccess(ACCESS);
  watch();
  await soon();
  attempt(0).succeed();
  await soon();
  room.setAccess(undefined);
  assert.equal(attempt(0).hasLeft, false);
  room.setAccess(null);
  assert.equal(attempt(0).hasLeft, true);
  assert.deepEqual(shown.at(-1), {video: null, audio: null, present: false, isComing: false, problem: 'the project has no room'});
});

test('another room is joined in the place of one that is being joined', async () => {
  room.setAccess(ACCESS);
  watch();
  await soon();
  room.setAccess(ELSEWHERE);
  await soon();
  assert.equal(attempt(1).access, ELSEWHERE);
  attempt(0).succeed();
  await soon();
  assert.equal(attempt(0).hasLeft, true);
  attempt(0).lost();
  attempt(1).succeed();
  await soon();
  assert.equal(attempt(1).hasLeft, false);
  assert.equal(attempts.length, 2);
});

test('whether somebody is there is not known before it is known whether there is a room', () => {
  watch();
  assert.equal(shown.at(-1)?.present, null);
  room.setAccess(null);
  assert.equal(shown.at(-1)?.present, false);
});
