"""What is heard of each channel that Chromium decodes."""

from __future__ import annotations

import base64
import json
import subprocess
from typing import Any

import pytest
from aiohttp import web
from tests.support.loopback_server import on_loopback
from tests.support.scene.browser import tab

from onair_crds.media.flv import AUDIO, FlvReader
from onair_encoder.sources.source_relay import SCRIPTS

pytestmark = pytest.mark.media

LEVEL = 0.5
HALF_POWER = 0.707
LEFT, RIGHT, BOTH = (1, 0), (0, 1), (1, 1)
FRONT = {"FL": LEFT, "FR": RIGHT, "FC": (HALF_POWER, HALF_POWER)}
BACK = {"BL": (HALF_POWER, 0), "BR": (0, HALF_POWER)}
SIDES = {"SL": (HALF_POWER, 0), "SR": (0, HALF_POWER)}
HEARD: dict[str, dict[str, tuple[float, float]]] = {
    "mono": {"FC": BOTH},
    "stereo": {"FL": LEFT, "FR": RIGHT},
    "3.0": FRONT,
    "4.0": {**FRONT, "BC": (0.5, 0.5)},
    "5.0": {**FRONT, **BACK},
    "5.1": {**FRONT, "LFE": (0, 0), **BACK},
    "7.1": {**FRONT, "LFE": (0, 0), **BACK, **SIDES},
}
"""How much of each channel is heard on the left and on the right, by ffmpeg's names."""
PLAY = """(async () => {
  const bytes = text => Uint8Array.from(atob(text), char => char.charCodeAt(0));
  let taken;
  const postMessage = ({channels}) => { if (channels) taken.push(channels); };
  window.AudioWorkletNode = class { port = {postMessage}; connect() {} disconnect() {} };
  window.GainNode = class { disconnect() {} };
  const {DueAudio} = await import('/sources/due-audio.js');
  const due = new DueAudio({audioWorklet: {addModule: async () => {}}}), heard = [];
  while (!due._node) await new Promise(done => setTimeout(done, 1));
  for (const {count, configuration, packets} of %s) {
    taken = [];
    const decoder = new AudioDecoder({error: console.error, output: data => due.play(data)});
    const format = {codec: 'mp4a.40.2', sampleRate: 48000, numberOfChannels: count};
    decoder.configure({...format, description: bytes(configuration)});
    for (const [at, packet] of packets.entries())
      decoder.decode(new EncodedAudioChunk({type: 'key', timestamp: at * 21333, data: bytes(packet)}));
    await decoder.flush();
    const loudest = side => Math.max(...taken.map(channels => Math.max(...channels[side] ?? channels[0])));
    heard.push([loudest(0), loudest(1)]);
  }
  return heard;
})()"""


def encoded(layout: str, channel: str) -> dict[str, Any]:
    """A tone in one channel of AAC."""
    channels = list(HEARD[layout])
    tones = "|".join(f"{LEVEL if each == channel else 0}*sin(200*PI*t)" for each in channels)
    command = [
        *("ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"aevalsrc={tones}:c={layout}:s=48000:d=0.2"),
        *("-c:a", "aac", "-b:a", "384k", "-f", "flv", "-flvflags", "no_duration_filesize", "pipe:1"),
    ]
    output = subprocess.run(command, check=True, capture_output=True).stdout
    bodies = [(packet.header, packet.body[2:]) for packet in FlvReader().feed(output) if packet.type == AUDIO]
    return {
        "count": len(channels),
        "configuration": next(base64.b64encode(body).decode() for header, body in bodies if header),
        "packets": [base64.b64encode(body).decode() for header, body in bodies if not header],
    }


async def page_of(_: web.Request) -> web.Response:
    return web.Response(text="<title>a source</title>", content_type="text/html")


async def script(request: web.Request) -> web.Response:
    return web.Response(text=SCRIPTS[request.match_info["name"]].read_text(), content_type="text/javascript")


async def test_each_channel_of_a_source_is_heard_where_it_belongs(chromium: str) -> None:
    expected = {(layout, channel): heard for layout, each in HEARD.items() for channel, heard in each.items()}
    given = [encoded(layout, channel) for layout, channel in expected]
    app = web.Application()
    # Decoders are for secure contexts alone, as those of the loopback
    app.router.add_get("/page", page_of)
    app.router.add_get("/sources/{name}", script)
    async with on_loopback(app) as address, tab(chromium, f"{address}/page", 160, 90) as page:
        found = await page.evaluate(PLAY % json.dumps(given))
    for (layout, channel), heard in zip(expected, found, strict=True):
        wanted = [LEVEL * share for share in expected[layout, channel]]
        assert heard == pytest.approx(wanted, abs=0.03), f"{channel} of {layout}"
