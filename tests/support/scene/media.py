"""Pictures, videos and pages of tests, and servers that give them well and badly."""

from __future__ import annotations

import contextlib
import io
import struct
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import cached_property, lru_cache

import av
import numpy as np
from aiohttp import web
from tests.support.scene.picture import Colour

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
ANYWHERE = {"Access-Control-Allow-Origin": "*"}


class Media(Mapping[str, Handler]):
    """Servers by their path, made for the first test that wants one: every process imports the file of it."""

    def __init__(self, make: Callable[[], Mapping[str, Handler]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Mapping[str, Handler]:
        return self._make()

    def __getitem__(self, path: str) -> Handler:
        return self._made[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def png(width: int, height: int, colour: Colour) -> bytes:
    """A picture of one colour, which takes little memory to make, however large."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    packer = zlib.compressobj(1)
    row = b"\0" + bytes(colour) * width
    data = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", data), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@lru_cache
def webm(
    *seconds: Colour,
    size: tuple[int, int] = (160, 90),
    rate: int = 10,
    tone_hz: float = 0,
    tone_peak: float = 0.5,
) -> bytes:
    """A video that shows one of these colours in each second, with a tone; full scale is a peak of 1."""
    memory = io.BytesIO()
    with av.open(memory, "w", format="webm") as container:
        video = container.add_stream("libvpx", rate=rate)
        video.width, video.height, video.pix_fmt = *size, "yuv420p"
        video.options = {"deadline": "realtime", "cpu-used": "8", "crf": "4", "qmax": "10"}
        video.bit_rate = 4_000_000
        audio = container.add_stream("libopus", rate=48_000) if tone_hz else None
        if audio is not None:
            audio.bit_rate = 160_000
        for colour in seconds:
            pixels = np.full((size[1], size[0], 3), colour, dtype=np.uint8)
            for _ in range(rate):
                container.mux(video.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(video.encode())
        if audio is not None:
            times = np.arange(48_000 * len(seconds)) / 48_000
            tone = (np.sin(2 * np.pi * tone_hz * times) * tone_peak).astype(np.float32)
            frame = av.AudioFrame.from_ndarray(np.stack([tone, tone]), format="fltp", layout="stereo")
            frame.sample_rate = 48_000
            container.mux(audio.encode(frame))
            container.mux(audio.encode())
    return memory.getvalue()


@lru_cache
def band_webm(colour: Colour, seconds: int, size: tuple[int, int], rate: int, height: int) -> bytes:
    """A video that is transparent, but for a band over its middle, as stingers are."""
    memory = io.BytesIO()
    with av.open(memory, "w", format="webm") as container:
        video = container.add_stream("libvpx-vp9", rate=rate)
        video.width, video.height, video.pix_fmt = *size, "yuva420p"
        video.options = {"deadline": "realtime", "cpu-used": "8", "auto-alt-ref": "0"}
        video.bit_rate = 4_000_000
        top = (size[1] - height) // 2
        for number in range(seconds * rate):
            pixels = np.zeros((size[1], size[0], 4), dtype=np.uint8)
            shown = size[0] * (number + 1) // (seconds * rate)
            pixels[top : top + height, :shown] = (*colour, 255)
            container.mux(video.encode(av.VideoFrame.from_ndarray(pixels, format="rgba")))
        container.mux(video.encode())
    return memory.getvalue()


BT709 = "colormatrix=bt709:colorprim=bt709:transfer=bt709"
"""Of x264: what is encoded is BT.709, as of cameras and editors."""


def bt709_frame(colour: Colour, size: tuple[int, int]) -> av.VideoFrame:
    pixels = np.full((size[1], size[0], 3), colour, dtype=np.uint8)
    return av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(
        format="yuv420p", dst_colorspace="ITU709"
    )


@lru_cache
def mp4(*seconds: Colour, size: tuple[int, int] = (160, 90), rate: int = 10) -> bytes:
    """A video of H.264 and BT.709 that shows one of these colours in each second."""
    memory = io.BytesIO()
    with av.open(memory, "w", format="mp4") as container:
        video = container.add_stream("libx264", rate=rate)
        video.width, video.height, video.pix_fmt = *size, "yuv420p"
        video.options = {"preset": "ultrafast", "qp": "4", "x264-params": BT709}
        for colour in seconds:
            for _ in range(rate):
                container.mux(video.encode(bt709_frame(colour, size)))
        container.mux(video.encode())
    return memory.getvalue()


def serves(body: bytes, content_type: str, *, anywhere: bool = True, cached: bool = False) -> Handler:
    async def serve(request: web.Request) -> web.StreamResponse:
        headers = {"Accept-Ranges": "bytes", **(ANYWHERE if anywhere else {})}
        if cached:
            headers["Cache-Control"] = "max-age=3600"
        part, status, sent = request.http_range, 200, body
        if part.start is not None:
            end = min(part.stop or len(body), len(body))
            headers["Content-Range"] = f"bytes {part.start}-{end - 1}/{len(body)}"
            status, sent = 206, body[part.start : end]
        return web.Response(status=status, body=sent, content_type=content_type, headers=headers)

    return serve


def page(html: str) -> Handler:
    return serves(html.encode(), "text/html", anywhere=False)


async def missing(_: web.Request) -> web.StreamResponse:
    return web.Response(status=404, headers=ANYWHERE)


def back_after(failures: int, handler: Handler) -> Handler:
    """A server that fails this many requests, and is itself again."""
    left = [failures]

    async def serve(request: web.Request) -> web.StreamResponse:
        left[0] -= 1
        return web.Response(status=503, headers=ANYWHERE) if left[0] >= 0 else await handler(request)

    return serve


async def endless(request: web.Request) -> web.StreamResponse:
    """A page that goes on for as long as somebody reads it."""
    response = web.StreamResponse(headers={"Content-Type": "text/html"})
    await response.prepare(request)
    await response.write(b"<body style='background: blue; margin: 0'>")
    with contextlib.suppress(ConnectionError):
        while request.transport is not None and not request.transport.is_closing():
            await response.write(b"<p>more</p>" * 1000)
    return response
