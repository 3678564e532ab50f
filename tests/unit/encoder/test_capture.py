"""The command line of ffmpeg follows the programme, and secrets stay in theirs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from onair_crds.contract.program import Program, ProgramDestination, ProgramVideo
from onair_encoder.agent import program_file
from onair_encoder.browser.chromium import in_words
from onair_encoder.encode.command import ffmpeg_command

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
    assert options["-maxrate"] == options["-b:v"] == "900000"
    assert command.count("-framerate") == 1
    assert options["-framerate"] == "29.97"
    assert not any("s3cret" in part for part in command)


def test_the_sound_keeps_its_distance_to_the_picture() -> None:
    """Both inputs are stamped by one clock; the sound follows its stamps and waits for the painting."""
    command = ffmpeg_command(PROGRAM)
    screen, sound = command.index("x11grab"), command.index("pulse")
    between = command[screen:sound]
    assert between[between.index("-isync") + 1] == "0"
    assert between[between.index("-itsoffset") + 1] == "0.050"
    assert "min_comp=0.01" in command[command.index("-af") + 1]


def test_a_stored_programme_is_taken_up_whole_and_is_for_one_user(tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    assert program_file.load(path) is None
    program_file.store(path, PROGRAM)
    assert path.stat().st_mode & 0o777 == 0o600
    again = program_file.load(path)
    assert again == PROGRAM
    assert again.destinations[0].key is not None
    assert again.destinations[0].key.get_secret_value() == "s3cret"
    assert "s3cret" not in repr(again)
    assert "s3cret" not in again.model_dump_json()


def test_a_damaged_store_is_no_programme(tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    path.write_text('{"project": "show"')
    assert program_file.load(path) is None


def test_chromiums_errors_are_words() -> None:
    assert in_words("net::ERR_NAME_NOT_RESOLVED") == "name not found"
    assert in_words("net::ERR_SOMETHING_NEW") == "something new"
