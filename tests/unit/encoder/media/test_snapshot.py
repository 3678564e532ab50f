"""Snapshots where there is nothing to decode, or nothing to decode it with."""

from __future__ import annotations

import errno
import subprocess
import threading
from collections.abc import Callable

import pytest
from tests.support.media.packets import VIDEO_HEADER, picture

from onair_encoder.media import snapshot
from onair_encoder.media.fan_out import FanOut
from onair_encoder.media.snapshot import NoSnapshot, Snapshots


async def test_before_the_first_key_frame_there_is_none() -> None:
    with pytest.raises(NoSnapshot, match="nothing was encoded yet"):
        await Snapshots(FanOut()).jpeg()


def no_process(*_: object, **__: object) -> None:
    raise OSError(errno.EAGAIN, "Resource temporarily unavailable")


def no_thread(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize(
    ("of", "start", "lack"), [(subprocess, "Popen", no_process), (threading.Thread, "start", no_thread)]
)
async def test_in_a_container_full_of_processes_there_is_none_for_now(
    monkeypatch: pytest.MonkeyPatch, of: object, start: str, lack: Callable[..., None]
) -> None:
    fan_out = FanOut()
    for packet in (VIDEO_HEADER, picture(0, b"k", key=True)):
        fan_out.put(packet)
    monkeypatch.setattr(of, start, lack)
    with pytest.raises(NoSnapshot, match="no process"):
        await Snapshots(fan_out).jpeg()


async def test_what_cannot_be_decoded_is_no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    fan_out = FanOut()
    for packet in (VIDEO_HEADER, picture(0, b"k", key=True)):
        fan_out.put(packet)
    monkeypatch.setattr(snapshot, "COMMAND", ["true"])
    with pytest.raises(NoSnapshot, match="could not be decoded"):
        await Snapshots(fan_out).jpeg()
