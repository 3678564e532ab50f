"""Live sources at the place where an agent serves them: records of access units, and the script for pages."""

from __future__ import annotations

import asyncio
import io
import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import av
import numpy as np
from aiohttp import web
from tests.support.scene.media import BT709, Handler, bt709_frame, serves
from tests.support.scene.picture import Colour

from onair_crds.contract.access_units import (
    CLOSE_ENDED,
    AudioConfig,
    Record,
    UnitKind,
    VideoConfig,
    config_payload,
)
from onair_encoder.sources.source_relay import SCRIPTS

RATE = 10
SAMPLE_RATE = 48_000
SIZE = (320, 180)


class Units(NamedTuple):
    """A second of key frames of one colour and of a tone, to be repeated."""

    video_config: bytes
    video: list[bytes]
    audio_config: bytes
    audio: list[bytes]


@lru_cache
def units(colour: Colour, tone_hz: int = 440) -> Units:
    memory = io.BytesIO()
    with av.open(memory, "w", format="flv") as container:
        video = container.add_stream("libx264", rate=RATE)
        video.width, video.height, video.pix_fmt = *SIZE, "yuv420p"
        video.options = {"preset": "ultrafast", "profile": "baseline", "g": "1", "bf": "0"}
        video.options |= {"qp": "8", "x264-params": BT709}
        audio = container.add_stream("aac", rate=SAMPLE_RATE)
        for _ in range(RATE):
            container.mux(video.encode(bt709_frame(colour, SIZE)))
        container.mux(video.encode())
        tone = np.sin(2 * np.pi * tone_hz * np.arange(SAMPLE_RATE * 2) / SAMPLE_RATE).astype(np.float32) / 2
        frame = av.AudioFrame.from_ndarray(np.stack([tone, tone]), format="fltp", layout="stereo")
        frame.sample_rate = SAMPLE_RATE
        container.mux(audio.encode(frame))
        container.mux(audio.encode())
    memory.seek(0)
    with av.open(memory, "r", format="flv") as container:
        seen = {
            "video": container.streams.video[0].codec_context,
            "audio": container.streams.audio[0].codec_context,
        }
        found: dict[str, list[bytes]] = {"video": [], "audio": []}
        for packet in container.demux():
            if packet.size:
                found[packet.stream.type].append(bytes(packet))
        avcc, specific = bytes(seen["video"].extradata or b""), bytes(seen["audio"].extradata or b"")
    codec = f"avc1.{avcc[1:4].hex()}"
    return Units(
        config_payload(VideoConfig(codec=codec), avcc),
        found["video"],
        config_payload(AudioConfig(codec="mp4a.40.2", sample_rate=SAMPLE_RATE, channels=2), specific),
        found["audio"],
    )


@dataclass
class LiveSource:
    """A source that is published, or not."""

    colour: Colour
    published: bool = True
    has_video: bool = True
    has_audio: bool = True
    """Otherwise its video alone goes on."""
    steps_us: int = 0
    """By how much the times of its audio have been moved."""
    readers: int = 0

    def serve(self) -> Handler:
        async def serve(request: web.Request) -> web.StreamResponse:
            socket = web.WebSocketResponse()
            await socket.prepare(request)
            if self.published:
                self.readers += 1
                sending = asyncio.create_task(self._send(socket))
                sending.add_done_callback(lambda _: asyncio.ensure_future(socket.close(code=CLOSE_ENDED)))
                async for _ in socket:
                    pass
                sending.cancel()
                self.readers -= 1
            await socket.close(code=CLOSE_ENDED)
            return socket

        return serve

    async def _send(self, socket: web.WebSocketResponse) -> None:
        given = units(self.colour)
        for kind, payload in (
            (UnitKind.VIDEO_CONFIG, given.video_config),
            (UnitKind.AUDIO_CONFIG, given.audio_config),
        ):
            if self.has_video or kind is UnitKind.AUDIO_CONFIG:
                await socket.send_bytes(Record(kind, 0, 0, payload).encode())
        began, heard = asyncio.get_running_loop().time(), itertools.cycle(given.audio)
        audio_us = 0
        for number, picture in enumerate(itertools.cycle(given.video)):
            if not self.published or socket.closed:
                return
            at_us = number * 1_000_000 // RATE
            if self.has_video:
                await socket.send_bytes(Record(UnitKind.VIDEO, at_us, at_us, picture, key=True).encode())
            while audio_us <= at_us:
                time_us = audio_us + self.steps_us
                sound = Record(UnitKind.AUDIO, time_us, time_us, next(heard), key=True)
                if self.has_audio:
                    await socket.send_bytes(sound.encode())
                audio_us += 1024 * 1_000_000 // SAMPLE_RATE
            due = began + (number + 1) / RATE
            await asyncio.sleep(max(0, due - asyncio.get_running_loop().time()))


def scripts() -> dict[str, Handler]:
    """What the agent serves for pages."""
    texts = {name: script.read_text() for name, script in SCRIPTS.items()}
    texts["settings.js"] = "export const delayMs = 500;"
    return {f"/sources/{name}": serves(text.encode(), "text/javascript") for name, text in texts.items()}
