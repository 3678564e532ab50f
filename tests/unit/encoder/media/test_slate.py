"""The slate has the options of the programme."""

from __future__ import annotations

from onair_crds.contract.program import Program, ProgramVideo
from onair_encoder.media.slate import gop_frames, slate_command

SIZE = ProgramVideo(width=640, height=360, framerate=30, bitrate_bps=600_000, keyframe_interval_frames=90)
PROGRAM = Program(project="p", broadcast="b", epoch=1, composition_url="http://a.example/", video=SIZE)


def test_the_slate_has_the_options_of_the_programme() -> None:
    command = slate_command(PROGRAM)
    assert command[command.index("-b:v") + 1] == "600000"
    assert "s=640x360" in " ".join(command)
    assert gop_frames(SIZE) == 60, "two seconds at most"
    assert gop_frames(SIZE.model_copy(update={"keyframe_interval_frames": 30})) == 30
