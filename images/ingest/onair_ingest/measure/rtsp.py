"""Reads the times of a stream's video frames from MediaMTX' RTSP, on the pod's loopback."""

from __future__ import annotations

import asyncio
import base64
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

INTERLEAVED = b"$"
RTP_HEADER = 12
MAX_HEAD = 16_384
TRANSPORT = "RTP/AVP/TCP;unicast;interleaved=0-1"
RTPMAP = re.compile(r"^a=rtpmap:\d+ [^/]+/(\d+)", re.MULTILINE)
CONTROL = re.compile(r"^a=control:(\S+)", re.MULTILINE)


class NotReadable(Exception):
    """The stream cannot be read, or not as expected."""


@dataclass(frozen=True)
class VideoTrack:
    control: str
    clock_hz: int


def video_track(sdp: str, base: str) -> VideoTrack:
    """The video of a session.

    Raises:
        NotReadable: there is none.
    """
    sections = re.split(r"^(?=m=)", sdp.replace("\r\n", "\n"), flags=re.MULTILINE)
    for section in sections:
        clock, control = RTPMAP.search(section), CONTROL.search(section)
        if section.startswith("m=video") and clock and control:
            name = control[1]
            return VideoTrack(name if "://" in name else f"{base}/{name}", int(clock[1]))
    raise NotReadable("no video")


class RtspReader:
    """One reading of one path. Use as an asynchronous context manager."""

    def __init__(self, server: str, path: str, password: str) -> None:
        self._server = urlsplit(server)
        self._url = f"{server}/{path}"
        credentials = base64.b64encode(f"gateway:{password}".encode()).decode()
        self._headers = f"Authorization: Basic {credentials}\r\n"
        self._number = 0
        self._session = ""

    async def __aenter__(self) -> VideoTrack:
        """
        Raises:
            NotReadable
            OSError, asyncio.IncompleteReadError
        """
        host, port = self._server.hostname or "127.0.0.1", self._server.port or 554
        self._reader, self._writer = await asyncio.open_connection(host, port, limit=MAX_HEAD)
        try:
            track = video_track(await self._request("DESCRIBE", self._url), self._url)
            await self._request("SETUP", track.control, f"Transport: {TRANSPORT}\r\n")
            await self._request("PLAY", self._url)
        except BaseException:
            self._writer.close()
            raise
        return track

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def timestamps(self, seconds: float) -> set[int]:
        """RTP timestamps of all frames that arrive within so long after the first."""
        found: set[int] = set()
        loop = asyncio.get_running_loop()
        until_s: float | None = None
        while until_s is None or loop.time() < until_s:
            if await self._reader.readexactly(1) != INTERLEAVED:
                raise NotReadable("not an interleaved frame")
            channel, length = (await self._reader.readexactly(1))[0], await self._reader.readexactly(2)
            packet = await self._reader.readexactly(int.from_bytes(length, "big"))
            if channel == 0 and len(packet) >= RTP_HEADER:
                found.add(int.from_bytes(packet[4:8], "big"))
                until_s = until_s or loop.time() + seconds
        return found

    async def _request(self, method: str, url: str, more: str = "") -> str:
        self._number += 1
        session = f"Session: {self._session}\r\n" if self._session else ""
        head = f"{method} {url} RTSP/1.0\r\nCSeq: {self._number}\r\n{self._headers}{session}{more}\r\n"
        self._writer.write(head.encode())
        try:
            response = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.LimitOverrunError as error:
            raise NotReadable("too long a response") from error
        if not response.startswith("RTSP/1.0 200"):
            raise NotReadable(response.split("\r\n", 1)[0])
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in response.splitlines()[1:])
        }
        self._session = headers.get("session", self._session).partition(";")[0]
        body = await self._reader.readexactly(min(int(headers.get("content-length", "0")), MAX_HEAD))
        return body.decode(errors="replace")
