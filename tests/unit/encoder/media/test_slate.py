"""The slate has the options of the programme."""

from __future__ import annotations

import threading

import pytest

from onair_crds.contract.program import Program, ProgramVideo
from onair_encoder.media import slate
from onair_encoder.media.slate import Slate, gop_frames, slate_command

SIZE = ProgramVideo(width=640, height=360, framerate=30, bitrate_bps=600_000, keyframe_interval_frames=90)
PROGRAM = Program(project="p", broadcast="b", epoch=1, composition_url="http://a.example/", video=SIZE)


def test_the_slate_has_the_options_of_the_programme() -> None:
    command = slate_command(PROGRAM)
    assert command[command.index("-b:v") + 1] == "600000"
    assert "s=640x360" in " ".join(command)
    assert gop_frames(SIZE) == 60, "two seconds at most"
    assert gop_frames(SIZE.model_copy(update={"keyframe_interval_frames": 30})) == 30


async def test_there_is_none_for_now_where_no_thread_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(slate, "slate_command", lambda _: ["true"])
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    assert await Slate.encode(PROGRAM) is None
