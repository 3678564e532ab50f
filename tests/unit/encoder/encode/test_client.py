"""The agent follows the encode, and knows when there is no hope for it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.waiting import until

from onair_encoder.encode import client as client_module
from onair_encoder.encode.client import AUDIO_LATE_MS, HOPELESS_FAILURES, ProgressClient
from onair_encoder.encode.paint import LAST_MS, Paints, next_capture_s, tick_us
from onair_encoder.encode.progress import EncodeProgress


async def test_failures_are_reported_as_they_come_and_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "SUPERVISOR_SOCKET", tmp_path / "supervisor.sock")
    reports: list[EncodeProgress] = [
        EncodeProgress(frames=10),
        EncodeProgress(frames=20),
        EncodeProgress(frames=20, failures=HOPELESS_FAILURES - 1),
        EncodeProgress(frames=20, failures=HOPELESS_FAILURES),
        EncodeProgress(frames=90),
    ]

    async def supervise(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.writelines(each.encode().encode() + b"\n" for each in reports)
        await writer.drain()

    errors: list[str | None] = []
    client = ProgressClient(lambda: errors.append(client.error))
    server = await asyncio.start_unix_server(supervise, tmp_path / "supervisor.sock")
    following = asyncio.create_task(client.run())
    await until(lambda: client.now == reports[-1], "all reports are read", 5)
    following.cancel()
    server.close()
    assert errors == [None, "ffmpeg hung or ended 6 times in a row", None]


def test_audio_waits_as_long_as_what_is_painted_takes_to_its_capture() -> None:
    client = ProgressClient(lambda: None)
    paints = Paints(tick_us(Fraction(30)), (20.0,))
    usual_ms = 33.333 - LAST_MS - AUDIO_LATE_MS
    assert client.audio_delay_ms(30, paints) == round(usual_ms), "as is best, while it is unknown"
    boot = time.time() - time.monotonic()
    for waited_ms in (1, 9, 15):
        first_capture_s = (1_000_000 * tick_us(Fraction(30)) + 20_000) / 1e6 + waited_ms / 1000
        client._take(EncodeProgress(captured_at=boot + first_capture_s))
        due_ms = 20 + waited_ms - AUDIO_LATE_MS
        assert client.audio_delay_ms(30, paints) == pytest.approx(due_ms, abs=1)
        client.now = replace(client.now, first_late_s=0.021)
        assert client.audio_delay_ms(30, paints) == pytest.approx(due_ms + 21, abs=1)


@pytest.mark.parametrize(
    ("off_ms", "in_step"), [(0, True), (1.5, True), (-1.5, True), (8, False), (-5, False)]
)
def test_captures_are_in_step_but_where_ffmpeg_was_late(off_ms: float, *, in_step: bool) -> None:
    began: list[bool] = []
    client = ProgressClient(lambda: None, lambda: began.append(client.captures_in_step(30)))
    boot = time.time() - time.monotonic()
    due_s = next_capture_s(1000, Fraction(30)) + off_ms / 1000
    client._take(EncodeProgress(captured_at=boot + due_s))
    client._take(EncodeProgress(captured_at=boot + due_s, frames=9))
    assert began == [in_step], "told once of each start"
    client._take(EncodeProgress())
    assert client.captures_in_step(30), "nothing is known of the next one"


def test_a_clock_that_is_set_on_air_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    client, paints = ProgressClient(lambda: None), Paints(tick_us(Fraction(30)), (20.0,))
    now_s = time.time()
    client._take(EncodeProgress(captured_at=now_s))
    before = client.first_capture_s, client.audio_delay_ms(30, paints)
    monkeypatch.setattr(time, "time", lambda: now_s + 3600.0117)
    client._take(EncodeProgress(captured_at=now_s, frames=9))
    assert (client.first_capture_s, client.audio_delay_ms(30, paints)) == before


def test_a_thread_that_loses_its_core_between_two_clocks_reads_them_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s, lost_s = 1000.0, iter([0.02, 0.02])

    def monotonic() -> float:
        nonlocal now_s
        now_s += next(lost_s, 0.0)
        return now_s

    monkeypatch.setattr(time, "monotonic", monotonic)
    monkeypatch.setattr(time, "time", lambda: now_s + 5000)
    client = ProgressClient(lambda: None)
    client._take(EncodeProgress(captured_at=6100.0))
    assert client.first_capture_s == pytest.approx(1100, abs=1e-6)
