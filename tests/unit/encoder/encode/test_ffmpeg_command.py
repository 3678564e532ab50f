"""The command line of ffmpeg follows the programme."""

from __future__ import annotations

from itertools import pairwise

from onair_crds.contract.program import Program, ProgramDestination, ProgramVideo
from onair_encoder.encode.ffmpeg_command import ffmpeg_command, keyframes

PROGRAM = Program(
    project="show",
    broadcast="run",
    epoch=1,
    composition_url="http://page.example/",
    video=ProgramVideo(
        width=640,
        height=360,
        framerate=29.97,
        profile="main",
        bitrate_bps=900_000,
        keyframe_interval_frames=60,
    ),
    destinations=[ProgramDestination(id="a", type="RTMP", url="rtmp://a.example/live", key="s3cret")],
)


def test_the_programme_is_in_the_command() -> None:
    command = ffmpeg_command(PROGRAM)
    options = dict(pairwise(command))
    assert options["-video_size"] == "640x360"
    assert options["-profile:v"] == "main"
    assert options["-g"] == "60"
    assert options["-force_key_frames:v"] == keyframes(PROGRAM)
    assert options["-maxrate"] == options["-b:v"] == "900000"
    assert command.count("-framerate") == 1
    assert options["-framerate"] == options["-r"] == "500000/16683", "33,366 µs: two paints"
    assert "fps=30000/1001" in options["-x264-params"], "which is what the stream declares"
    assert not any("s3cret" in part for part in command)


def test_audio_and_video_stay_in_sync() -> None:
    """Both inputs are stamped by one clock; the audio follows its timestamps."""
    command = ffmpeg_command(PROGRAM)
    screen, sound = command.index("x11grab"), command.index("pulse")
    between = command[screen:sound]
    assert between[between.index("-isync") + 1] == "1"
    assert command.index("ffmetadata") < screen, "the gate opens first"
    assert "min_comp=0.003" in command[command.index("-af") + 1]
    assert command[command.index("-frame_drop_threshold") + 1] == "0.3"
