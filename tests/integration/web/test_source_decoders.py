"""What a source does with decoders that are too slow, or that do not work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.support.pages import site
from tests.support.scene.browser import Tab, tab

from onair_encoder.sources.source_relay import SCRIPTS

pytestmark = pytest.mark.media

MOST_QUEUED = 120
SCRIPT = "text/javascript"
SCRIPT_NAMES = ("source.js", "stream-clock.js", "drawn-size.js")
# Decoded media leave here: what is shown and heard of them is tested with whole pods
DUE_PICTURES = b"""export class DuePictures {
  dropped = 0;
  constructor() { this.track = document.createElement('canvas').captureStream().getTracks()[0]; }
  add() {} look() {} halve() {} clear() {} end() {}
}"""
DUE_AUDIO = b"export class DueAudio { play() {} follow() {} reset() {} close() {} }"
STAND_INS = """
  window.decoders = [];
  let socket;
  window.WebSocket = class { constructor() { socket = this; } close() {} };
  window.EncodedVideoChunk = class { constructor(given) { Object.assign(this, given); } };
  window.VideoDecoder = class {
    constructor(callbacks) {
      Object.assign(this, {callbacks, state: 'unconfigured', decodeQueueSize: 0, types: [], most: 0});
      decoders.push(this);
    }
    configure() {
      this.state = 'configured';
      this.types.push('configured');
      if (window.refuses) setTimeout(() => this.fail());
    }
    decode({type}) {
      if (this.state !== 'configured') throw new DOMException('it is closed', 'InvalidStateError');
      this.types.push(type); this.most = Math.max(this.most, ++this.decodeQueueSize);
    }
    reset() { this.state = 'unconfigured'; this.decodeQueueSize = 0; }
    close() { this.state = 'closed'; }
    fail() { if (this.state !== 'closed') { this.state = 'closed'; this.callbacks.error(); } }
  };
  const send = (kind, flags, ms, payload) => {
    const buffer = new ArrayBuffer(20 + payload.length), view = new DataView(buffer);
    view.setUint8(0, kind);
    view.setUint8(1, flags);
    for (const at of [4, 12]) view.setBigInt64(at, BigInt(ms * 1000));
    new Uint8Array(buffer).set(payload, 20);
    socket.onmessage({data: buffer});
  };
  window.frames_ = count => {
    for (let at = 0; at < count; at++) send(3, at % 60 ? 0 : 1, at * 33, new Uint8Array(4));
  };
  window.configured = () => {
    const json = new TextEncoder().encode('{"codec": "avc1.42c01e"}');
    send(1, 0, 0, new Uint8Array([0, json.length, ...json]));
  };
"""


@pytest_asyncio.fixture
async def page(chromium: str) -> AsyncIterator[Tab]:
    """One with a source, whose decoders and connection are `STAND_INS`."""
    files = {f"/{name}": (SCRIPT, SCRIPTS[name].read_bytes()) for name in SCRIPT_NAMES}
    files |= {"/due-pictures.js": (SCRIPT, DUE_PICTURES), "/due-audio.js": (SCRIPT, DUE_AUDIO)}
    files["/settings.js"] = (SCRIPT, b"export const delayMs = 100;")
    files["/page"] = ("text/html", b"<title>a source</title>")
    with site(files) as address:
        async with tab(chromium, f"{address}/page", 160, 90) as page:
            source = f"new Source('phone', {{audioContext: {{}}, url: '{address}'}})"
            begin = f"const {{Source}} = await import('{address}/source.js'); window.source = {source};"
            await page.evaluate(f"(async () => {{ {STAND_INS} {begin} }})()")
            yield page


async def seen(page: Tab, script: str) -> Any:
    return await page.evaluate(f"(async () => {{ {script} }})()")


async def test_a_decoder_that_is_too_slow_goes_on_with_a_later_key_frame(page: Tab) -> None:
    """Else each frame would be shown later than the one before."""
    types, most, dropped = await seen(
        page,
        "configured();"
        "for (let at = 0; at < 9; at++) { frames_(60); await new Promise(done => setTimeout(done, 800)); }"
        "return [decoders[0].types, decoders[0].most, source.dropped];",
    )
    assert MOST_QUEUED < most < 9 * 60
    assert dropped > MOST_QUEUED
    begins = [types[at + 1] for at, each in enumerate(types[:-1]) if each == "configured"]
    assert len(begins) >= 2
    assert set(begins) == {"key"}


async def test_a_decoder_that_never_worked_is_replaced_now_and_then(page: Tab) -> None:
    count = await seen(
        page,
        "window.refuses = true; configured(); const until = performance.now() + 1200;"
        "while (performance.now() < until) { await new Promise(done => setTimeout(done, 20)); frames_(60); }"
        "return decoders.length;",
    )
    assert 2 <= count <= 3


async def test_all_frames_since_a_key_frame_may_come_at_once(page: Tab) -> None:
    """As for who begins to read in the middle of a long group."""
    types, dropped = await seen(
        page,
        "configured(); frames_(1); for (let at = 0; at < 5; at++) frames_(60);"
        "decoders[0].decodeQueueSize = 3; await new Promise(done => setTimeout(done, 3200)); frames_(1);"
        "return [decoders[0].types, source.dropped];",
    )
    assert (len(types), dropped) == (1 + 1 + 300 + 1, 0)


async def test_one_that_worked_is_replaced_at_once_and_a_closed_source_has_no_other(page: Tab) -> None:
    counts = await seen(
        page,
        "configured(); decoders[0].callbacks.output({}); decoders[0].fail(); const found = [decoders.length];"
        "source.close(); decoders[1].fail(); await new Promise(done => setTimeout(done, 600));"
        "return [...found, decoders.length];",
    )
    assert counts == [2, 2]
