"""What ffmpeg says of itself is understood, and totals outlive it."""

from __future__ import annotations

import pytest

from onair_encoder.encode.progress import Encoding, EncodingListener

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


def test_totals_go_on_over_restarts_and_the_rest_begins_anew() -> None:
    told: list[Encoding] = []
    logged: list[str] = []
    listener = EncodingListener(told.append, logged.append)
    listener.started()
    for line in [*BEGIN, *block(30, 1, 2, "1.01x"), *block(60, 1, 3, "0.99x")]:
        listener.line(line)
    assert told[0].captured_at == 1795263608.107388, "the screen's, not the sound's"
    assert told[-1] == Encoding(60, 1, 3, 0.99, 1795263608.107388)
    listener.started()
    assert (listener.now.frames, listener.now.speed, listener.now.captured_at) == (60, 0.0, None)
    for line in block(10, 0, 1, "N/A"):
        listener.line(line)
    assert (told[-1].frames, told[-1].dropped, told[-1].duplicated) == (70, 1, 4)
    assert logged == []


def test_warnings_are_logged_and_the_rest_is_not() -> None:
    logged: list[str] = []
    listener = EncodingListener(lambda _: None, logged.append)
    for line in (*BEGIN, "[x11grab @ 0x1] [warning] late", "[error] broken", "", "frame=", "speed=1.2.3x"):
        listener.line(line)
    assert logged == ["[x11grab @ 0x1] [warning] late", "[error] broken"]


def test_a_line_is_read_as_it_was_written() -> None:
    known = Encoding(5, 1, 2, 1.0, 17.5)
    assert Encoding.of(known.line()) == known
    with pytest.raises(ValueError, match="not what ffmpeg tells"):
        Encoding.of('{"surprise": 1}')
