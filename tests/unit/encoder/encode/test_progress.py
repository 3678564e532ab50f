"""ffmpeg's progress is parsed, and totals outlive it."""

from __future__ import annotations

import pytest

from onair_encoder.encode.progress import EncodeProgress, ProgressParser

BEGIN = [
    "[info] Input #0, x11grab, from ':0':",
    "[info]   Duration: N/A, start: 1795263608.107388, bitrate: 55296 kb/s",
    "[info]   Duration: N/A, start: 1795263609.000000, bitrate: 1536 kb/s",
]


def block(frames: int, drop: int, dup: int, speed: str) -> list[str]:
    return [
        f"frame={frames}",
        "fps=30.00",
        "bitrate=N/A",
        "out_time=00:00:01.000000",
        f"dup_frames={dup}",
        f"drop_frames={drop}",
        f"speed={speed}",
        "progress=continue",
    ]


def test_totals_continue_across_restarts_and_the_rest_is_reset() -> None:
    reported: list[EncodeProgress] = []
    logged: list[str] = []
    listener = ProgressParser(reported.append, logged.append)
    listener.started()
    for line in [*BEGIN, *block(30, 1, 2, "1.01x"), *block(60, 1, 3, "0.99x")]:
        listener.line(line)
    assert reported[0].captured_at == 1795263608.107388, "the screen's, not the sound server's"
    assert reported[-1] == EncodeProgress(60, 1, 3, 0.99, 1795263608.107388)
    listener.started()
    assert (listener.now.frames, listener.now.speed, listener.now.captured_at) == (60, 0.0, None)
    for line in block(10, 0, 1, "N/A"):
        listener.line(line)
    assert (reported[-1].frames, reported[-1].dropped, reported[-1].duplicated) == (70, 1, 4)
    assert logged == []


def test_how_late_the_first_capture_was_is_known_when_a_later_one_was_less_late() -> None:
    parser = ProgressParser(lambda _: None)
    parser.started()
    for line in (*BEGIN, "[info] -0.003853", "[info] -0.014420"):
        parser.line(line)
    assert parser.now.first_late_s == 0.014420
    assert parser.now.captured_at == pytest.approx(1795263608.107388 - 0.014420, abs=1e-6)
    parser.started()
    assert (parser.now.captured_at, parser.now.first_late_s) == (None, 0.0)


def test_warnings_are_logged_and_the_rest_is_not() -> None:
    logged: list[str] = []
    listener = ProgressParser(lambda _: None, logged.append)
    for line in (*BEGIN, "[x11grab @ 0x1] [warning] late", "[error] broken", "", "frame=", "speed=1.2.3x"):
        listener.line(line)
    assert logged == ["[x11grab @ 0x1] [warning] late", "[error] broken"]


def test_a_line_is_decoded_as_it_was_encoded() -> None:
    known = EncodeProgress(5, 1, 2, 1.0, 17.5)
    assert EncodeProgress.decode(known.encode()) == known
    with pytest.raises(ValueError, match="not the progress of an encode"):
        EncodeProgress.decode('{"surprise": 1}')
