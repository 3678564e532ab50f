"""The playout of sources' sound, at its end."""

from __future__ import annotations

import base64

import pytest
from tests.support.scene.browser import tab

from onair_encoder.sources.source_relay import SCRIPTS

pytestmark = pytest.mark.media

END = """(async () => {
  const {port1, port2} = new MessageChannel();
  const arrived = () => new Promise(done => port2.addEventListener("message", done, {once: true}));
  const wait = () => new Promise(done => setTimeout(done, 50));
  let open = true;
  globalThis.AudioWorkletProcessor = class { port = port2; };
  Object.assign(globalThis, {sampleRate: 48000, currentTime: 0});
  let Playout;
  globalThis.registerProcessor = (_, type) => { Playout = type; };
  await import('data:text/javascript;base64,%s');
  const playout = new Playout(), told = [];
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


async def test_a_playout_that_is_ended_asks_for_no_more_calls_and_holds_no_samples(chromium: str) -> None:
    script = base64.b64encode(SCRIPTS["audio-playout.js"].read_bytes()).decode()
    async with tab(chromium, "about:blank", 160, 90) as page:
        told = await page.evaluate(END % script)
    assert told == [[True, 2], [True, 2], [False, 0], [False, 0], [False, 0]]
