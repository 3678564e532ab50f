"""What a bucket holds: playlists, the segments that they name, and whether these can be played."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.support.delivery.live_program import HEIGHT, WIDTH
from tests.support.waiting import until

from onair_crds.contract.program import ProgramDestination
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.destination_publisher import DestinationPublisher
from onair_encoder.publish.encoder_run import EncoderRun
from onair_encoder.publish.hls.output import HlsOutput


def hls_publisher(
    wanted: ProgramDestination,
    fan_out: FanOut,
    changed: Callable[[], None] = lambda: None,
    run: str = "run",
    epoch: int = 1,
) -> DestinationPublisher:
    return DestinationPublisher(HlsOutput, wanted, fan_out, changed, EncoderRun(run, epoch))


async def until_connected(publisher: DestinationPublisher, timeout_s: float = 15.0) -> None:
    await until(lambda: publisher.destination.is_connected, "connected", timeout_s)


async def until_error(publisher: DestinationPublisher, timeout_s: float = 15.0) -> str:
    """The error that it reports."""
    return str(await until(lambda: publisher.destination.state.last_error, "an error", timeout_s))


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def names(text: str) -> list[str]:
    """The segments that a playlist names."""
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def begins_with(playlist: Path, prefix: str) -> bool:
    """Whether the first segment that it names does."""
    return any(name.startswith(prefix) for name in names(text_of(playlist))[:1])


def probe(playlist: Path) -> dict[str, list[dict[str, Any]]]:
    """Streams and packets of all that a playlist names, as ffprobe has them."""
    command = ["ffprobe", "-v", "error", "-of", "json", "-allowed_extensions", "ALL"]
    entries = "stream=codec_name,width,height,sample_rate:packet=stream_index,dts_time"
    done = subprocess.run(
        [*command, "-show_entries", entries, str(playlist)], check=True, capture_output=True, timeout=30
    )
    found: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    return found


def assert_whole(playlist: Path, least_s: float) -> None:
    """The right streams, times without a hole or a step back, and every frame can be decoded."""
    found = probe(playlist)
    video, audio = sorted(found["streams"], key=lambda stream: stream["codec_name"], reverse=True)
    assert (video["codec_name"], video["width"], video["height"]) == ("h264", WIDTH, HEIGHT)
    assert (audio["codec_name"], audio["sample_rate"]) == ("aac", "48000")
    for index in (0, 1):
        times = [float(p["dts_time"]) for p in found["packets"] if p["stream_index"] == index]
        assert times[-1] - times[0] > least_s
        assert all(0 < b - a < 0.06 for a, b in pairwise(times)), "a hole"
    decode = ["ffmpeg", "-v", "error", "-xerror", "-i", str(playlist), "-f", "null", "-"]
    result = subprocess.run(decode, check=False, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
