"""The threads of an ffmpeg that read its inputs, by their names or as the first of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from onair_encoder.encode import capture_threads as module
from onair_encoder.encode.capture_threads import capture_threads

MAIN = 99


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "PROC", tmp_path)
    return tmp_path / str(MAIN) / "task"


def start(tasks: Path, names: dict[int, str]) -> None:
    for thread, name in names.items():
        (tasks / str(thread)).mkdir(parents=True)
        (tasks / str(thread) / "comm").write_text(f"{name}\n")


def test_the_first_that_have_no_name_of_their_own_are_the_inputs(tasks: Path) -> None:
    start(tasks, {MAIN: "ffmpeg", 102: "ffmpeg", 1003: "ffmpeg", 100: "threaded-ml", 101: "ffmpeg"})
    assert capture_threads(MAIN) == [101, 102]


def test_those_that_have_a_name_are_told_by_it(tasks: Path) -> None:
    named = {101: "dmx1:x11grab", 102: "dec1:0:rawvideo", 103: "dmx2:pulse"}
    start(tasks, {MAIN: "ffmpeg", 100: "ffmpeg", **named})
    assert capture_threads(MAIN) == [101, 103]


@pytest.mark.parametrize("names", [{}, {MAIN: "ffmpeg"}, {MAIN: "ffmpeg", 100: "threaded-ml", 101: "ffmpeg"}])
def test_before_all_inputs_are_read_there_are_none(tasks: Path, names: dict[int, str]) -> None:
    start(tasks, names)
    assert capture_threads(MAIN) == []


def test_a_thread_that_ends_meanwhile_is_none(tasks: Path) -> None:
    start(tasks, {MAIN: "ffmpeg", 101: "ffmpeg", 102: "ffmpeg"})
    (tasks / "100").mkdir()
    assert capture_threads(MAIN) == [101, 102]
