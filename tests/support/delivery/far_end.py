"""A real MediaMTX as the far end of deliveries: RTMP, RTMPS and SRT in, recorded as it came."""

from __future__ import annotations

import asyncio
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx
import yaml
from tests.support.control_plane import free_port
from tests.support.delivery.server_program import server_program
from tests.support.plain_http import NO_TLS
from tests.support.waiting import until


@dataclass(frozen=True)
class DecodingTimes:
    """Decoding times in seconds as they were received, by kind of medium."""

    video: list[float]
    audio: list[float]


class FarEnd:
    """Use as an async context manager; streams under `recorded/` are kept in files."""

    def __init__(self, folder: Path, *, certificate: tuple[Path, Path] | None = None, **paths: Any) -> None:
        self._folder = folder
        self.api, self.rtmp, self.rtmps, self.srt, self.rtsp = (free_port() for _ in range(5))
        config: dict[str, Any] = {
            "logLevel": "info",
            "api": True,
            "apiAddress": f"127.0.0.1:{self.api}",
            "rtspAddress": f"127.0.0.1:{self.rtsp}",
            "rtspTransports": ["tcp"],
            "rtmpAddress": f"127.0.0.1:{self.rtmp}",
            "srtAddress": f"127.0.0.1:{self.srt}",
            "hls": False,
            "webrtc": False,
            "moq": False,
            "authInternalUsers": [
                {"user": "any", "permissions": [{"action": "api"}, {"action": "read"}]},
                {"user": "any", "permissions": [{"action": "publish", "path": "~^(open|recorded)/"}]},
                {"user": "alice", "pass": "secret", "permissions": [{"action": "publish"}]},
            ],
            "paths": {
                "~^recorded/": {
                    "record": True,
                    "recordFormat": "fmp4",
                    "recordPath": str(folder / "%path" / "%s-%f"),
                    "recordPartDuration": "100ms",
                },
                **paths,
                "all_others": None,
            },
        }
        if certificate:
            config |= {
                "rtmpEncryption": "optional",
                "rtmpsAddress": f"127.0.0.1:{self.rtmps}",
                "rtmpServerCert": str(certificate[0]),
                "rtmpServerKey": str(certificate[1]),
            }
        self._config = folder / "far-end.yml"
        self._config.write_text(yaml.safe_dump(config))

    async def __aenter__(self) -> Self:
        self._http = httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.api}", timeout=5, verify=NO_TLS)
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
        await self._http.aclose()

    async def start(self) -> None:
        """Starts it, again if it was stopped; returns when it answers."""
        self._spawn()
        await until(self._responds, "the far end responds", 10)

    async def _responds(self) -> bool:
        try:
            return (await self._http.get("/v3/paths/list")).is_success
        except httpx.HTTPError:
            return False

    def _spawn(self) -> None:
        with (self._folder / "far-end.log").open("ab") as log:
            self._process = subprocess.Popen(
                [server_program("mediamtx"), self._config], stdout=log, stderr=subprocess.STDOUT
            )

    async def stop(self) -> None:
        """Ends it as a crash would: no session is closed properly."""
        self._process.kill()
        await asyncio.to_thread(self._process.wait)

    async def ready(self, path: str, timeout_s: float = 10.0) -> dict[str, Any]:
        """What the server knows of a path, as soon as it is ready."""

        async def found() -> dict[str, Any] | None:
            response = await self._http.get(f"/v3/paths/get/{path}")
            return dict(response.json()) if response.is_success and response.json()["ready"] else None

        return await until(found, f"{path} is ready", timeout_s, poll_s=0.005)

    async def gone(self, path: str, timeout_s: float = 10.0) -> None:
        """Waits until nobody publishes to a path."""

        async def left() -> bool:
            return not (await self._http.get(f"/v3/paths/get/{path}")).is_success

        await until(left, f"nobody publishes to {path}", timeout_s)

    async def received_more(self, path: str, bytes_more: int, timeout_s: float = 10.0) -> None:
        """Waits until so much more has come."""
        first = (await self.ready(path))["bytesReceived"]

        async def come() -> bool:
            return bool((await self.ready(path))["bytesReceived"] >= first + bytes_more)

        await until(come, f"{bytes_more} more bytes of {path}", timeout_s)

    def recordings(self, path: str) -> list[Path]:
        """The files of a path, in order; one for each time that it was published to."""
        return sorted((self._folder / path).glob("*.mp4"))

    def recorded(self, path: str) -> DecodingTimes:
        """The one recording of a path."""
        (file,) = self.recordings(path)
        return DecodingTimes(decoding_times(file, "v"), decoding_times(file, "a"))


def decoding_times(file: Path, kind: str) -> list[float]:
    probe = [
        "ffprobe",
        "-v",
        "error",
        "-select_streams",
        kind,
        "-show_entries",
        "packet=dts_time",
        "-of",
        "json",
    ]
    found = json.loads(subprocess.check_output([*probe, str(file)]))
    return [float(packet["dts_time"]) for packet in found["packets"]]


@dataclass(frozen=True)
class Decoded:
    """What a decoder finds in a file."""

    frames: int
    width: int
    height: int
    samples: int
    errors: str


def decoded(file: Path) -> Decoded:
    """Decodes all of it."""
    entries = "stream=codec_name,codec_type,width,height,nb_read_frames:frame=nb_samples,media_type"
    probe = ["ffprobe", "-v", "warning", "-count_frames", "-show_entries", entries, "-of", "json", str(file)]
    done = subprocess.run(probe, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    streams = {stream["codec_type"]: stream for stream in found["streams"]}
    assert {kind: stream["codec_name"] for kind, stream in streams.items()} == {
        "video": "h264",
        "audio": "aac",
    }
    samples = sum(frame.get("nb_samples", 0) for frame in found["frames"])
    video = streams["video"]
    return Decoded(int(video["nb_read_frames"]), video["width"], video["height"], samples, done.stderr)
