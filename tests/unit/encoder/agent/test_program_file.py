"""A stored programme is resumed whole, and its secrets stay secret."""

from __future__ import annotations

from pathlib import Path

from onair_crds.contract.program import Program, ProgramDestination, ProgramVideo
from onair_encoder.agent import program_file

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


def test_a_stored_programme_is_resumed_whole_and_readable_by_one_user(tmp_path: Path) -> None:
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
