"""The playout of sources' sound: how it follows what is due, and at its end."""

from __future__ import annotations

import base64
import json

import pytest
from tests.support.scene.browser import tab

from onair_encoder.sources.source_relay import SCRIPTS

pytestmark = pytest.mark.media

BEGIN = """(async () => {
  const {port1, port2} = new MessageChannel();
  const arrived = () => new Promise(done => port2.addEventListener("message", done, {once: true}));
  const wait = () => new Promise(done => setTimeout(done, 50));
  let open = true;
  globalThis.AudioWorkletProcessor = class { port = port2; };
  Object.assign(globalThis, {sampleRate: 48000, currentTime: 0});
  let Playout;
  globalThis.registerProcessor = (_, type) => { Playout = type; };
  await import('data:text/javascript;base64,%s');
"""
END = (
    BEGIN
    + """  const playout = new Playout(), told = [];
  const tell = async message => {
    const there = arrived();
    port1.postMessage(message);
    await (open ? there : wait());
    open &&= !message.end;
    const output = [new Float32Array(128), new Float32Array(128)];
    told.push([playout.process([], [output]), playout.ring.length]);
  };
  const samples = {atMs: 0, rate: 48000, channels: [new Float32Array(1024)]};
  const messages = [samples, {contextTime: 0, mediaMs: 5}, {end: true}, {reset: true}, samples];
  for (const message of messages) await tell(message);
  return told;
})()"""
)


async def test_a_playout_that_is_ended_asks_for_no_more_calls_and_holds_no_samples(chromium: str) -> None:
    script = base64.b64encode(SCRIPTS["audio-playout.js"].read_bytes()).decode()
    async with tab(chromium, "about:blank", 160, 90) as page:
        told = await page.evaluate(END % script)
    assert told == [[True, 2], [True, 2], [False, 0], [False, 0], [False, 0]]


FOLLOW = (
    BEGIN
    + """
  const playout = new Playout(), offsMs = [];
  const tell = async message => {
    const there = arrived();
    port1.postMessage(message);
    await there;
  };
  // Each sample is its own number, in millionths
  for (let at = 0; at < 48000 * 4; at += 4800) {
    const samples = Float32Array.from({length: 4800}, (_, i) => (at + i) / 1e6);
    await tell({atMs: at / 48, rate: 48000, channels: [samples]});
  }
  for (const lateMs of %s) {
    await tell({contextTime: currentTime, mediaMs: 500 + currentTime * 1000 + lateMs});
    let off = 0;
    for (let block = 0; block < 36; block++) {
      const output = [new Float32Array(128), new Float32Array(128)];
      playout.process([], [output]);
      off = output[0][127] * 1e6 / 48 - 500 - currentTime * 1000;
      currentTime += 128 / sampleRate;
    }
    offsMs.push(off);
  }
  return offsMs;
})()"""
)


async def followed(chromium: str, late_ms: list[float]) -> list[float]:
    """How many milliseconds further the playout is than at first, after each look of 0.1 s.

    Args:
        late_ms: what each look says that the playout has to be further.
    """
    script = base64.b64encode(SCRIPTS["audio-playout.js"].read_bytes()).decode()
    async with tab(chromium, "about:blank", 160, 90) as page:
        found = await page.evaluate(FOLLOW % (script, json.dumps(late_ms)))
    return [each - found[0] for each in found]


async def test_a_context_that_has_stood_still_is_made_up_for_at_once(chromium: str) -> None:
    found = await followed(chromium, [0, 0, 40, 40, 40, 40])
    assert found[2] < 2, "one look may be wrong"
    assert found[3:] == pytest.approx([40, 40, 40], abs=1)


async def test_one_look_that_is_wrong_changes_nothing_that_is_heard(chromium: str) -> None:
    found = await followed(chromium, [0, 40, 0, -40, 0, 40, 0])
    assert max(map(abs, found)) < 2


async def test_what_is_less_apart_is_made_up_for_by_half_a_per_cent(chromium: str) -> None:
    found = await followed(chromium, [0, 15, 15, 15, 15])
    assert found[1:] == pytest.approx([0.5, 1, 1.5, 2], abs=0.3)


async def test_what_is_far_apart_is_jumped_over(chromium: str) -> None:
    found = await followed(chromium, [0, 80, 80])
    assert found[1:] == pytest.approx([80, 80], abs=1)
