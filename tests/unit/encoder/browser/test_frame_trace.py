"""How long paints take to the screen follows from a browser's records of its frames."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from onair_encoder.browser import frame_trace
from onair_encoder.browser.cdp import CdpError
from onair_encoder.browser.cdp_messages import Message
from onair_encoder.browser.frame_trace import FEWEST, MOST, FrameTrace, Trace, dropped_frames, paint_delays_ms

FRAME_US = 16_666


def _frame(
    number: int,
    delay_ms: float,
    *,
    of_page: bool = True,
    state: str = "STATE_PRESENTED_ALL",
    kind: str | None = None,
    smooth: bool = True,
) -> Iterator[Message]:
    """Records of one frame, the last one first."""
    began_us = 1_000_000 + number * FRAME_US
    same = {"pid": 7, "id2": {"local": hex(number)}}
    report = {"state": state, "affects_smoothness": smooth} | ({"frame_type": kind} if kind else {})
    yield {"name": "PipelineReporter", "ph": "e", "ts": began_us + delay_ms * 1000, **same, "args": {}}
    if of_page:
        yield {"name": "SendBeginMainFrameToCommit", "ph": "b", "ts": began_us + 100, **same}
    yield {
        "name": "PipelineReporter",
        "ph": "b",
        "ts": began_us,
        **same,
        "args": {"frame_reporter": report},
    }


def test_frames_that_the_page_painted_count_from_their_begin_to_the_screen() -> None:
    records = [each for number in range(18) for each in _frame(number, 19 + number % 2)]
    assert paint_delays_ms(records) == [19.0, 20.0] * 9


def test_forked_dropped_and_unfinished_frames_do_not_count() -> None:
    records = [each for number in range(18) for each in _frame(number, 35)]
    records += [each for n in range(40, 58) for each in _frame(n, 2, of_page=False, kind="FORKED")]
    records += [each for n in range(60, 78) for each in _frame(n, 17, state="STATE_DROPPED")]
    records += [each for n in range(80, 98) for each in list(_frame(n, 50))[1:]]
    assert paint_delays_ms(records) == [35.0] * 18


def test_frames_that_had_something_to_show_and_were_dropped_are_counted() -> None:
    records = [each for number in range(18) for each in _frame(number, 35)]
    assert dropped_frames(records) == 0
    records += [each for n in range(60, 64) for each in _frame(n, 17, state="STATE_DROPPED")]
    records += [each for n in range(70, 78) for each in _frame(n, 17, state="STATE_DROPPED", smooth=False)]
    assert dropped_frames(records) == 4


def test_a_page_that_only_the_compositor_animates_counts_by_what_is_composed() -> None:
    records = [each for number in range(12) for each in _frame(number, 3, of_page=False)]
    assert paint_delays_ms(records) == [3.0] * 12


def test_a_page_that_paints_rarely_says_nothing() -> None:
    records = [each for number in range(FEWEST - 1) for each in _frame(number, 3)]
    assert paint_delays_ms(records) == []
    assert paint_delays_ms([]) == []


def test_processes_with_the_same_numbers_are_told_apart_and_many_frames_are_bounded() -> None:
    records = [each for number in range(100) for each in _frame(number, 20)]
    records += [dict(each, pid=8) for number in range(100) for each in _frame(number, 20)]
    assert paint_delays_ms(records) == [20.0] * MOST


async def test_a_trace_is_ended_and_its_records_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    rounds: list[float] = [19.0, 35.0]

    async def call(method: str, _: Message) -> Message:
        calls.append(method)
        if method == "Tracing.end":
            delay_ms = rounds.pop(0)
            records = [each for number in range(10) for each in _frame(number, delay_ms)]
            trace.event("Tracing.dataCollected", {"value": records})
            trace.event("Tracing.tracingComplete", {})
        return {}

    trace = FrameTrace(call)
    assert await trace.take(0) == Trace([19.0] * 10)
    assert await trace.take(0) == Trace([35.0] * 10)
    assert calls == ["Tracing.start", "Tracing.end"] * 2


async def test_a_browser_that_cannot_trace_or_never_completes_says_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frame_trace, "END_TIMEOUT_S", 0.01)

    async def refuse(method: str, _: Message) -> Message:
        raise CdpError(method)

    async def accept(_: str, __: Message) -> Message:
        return {}

    assert await FrameTrace(refuse).take(0) is None
    async with asyncio.timeout(5):
        assert await FrameTrace(accept).take(0) is None


async def test_a_trace_that_was_left_behind_is_ended_and_the_next_one_measures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running = True

    async def call(method: str, _: Message) -> Message:
        nonlocal running
        if method == "Tracing.start" and running:
            raise CdpError("already started")
        running = method == "Tracing.start"
        if not running:
            records = [each for number in range(10) for each in _frame(number, 19)]
            trace.event("Tracing.dataCollected", {"value": records})
            trace.event("Tracing.tracingComplete", {})
        return {}

    trace = FrameTrace(call)
    assert await trace.take(0) is None
    assert await trace.take(0) == Trace([19.0] * 10)
