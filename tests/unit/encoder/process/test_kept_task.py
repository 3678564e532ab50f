"""Work of the agent that dies of an error."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.waiting import until

from onair_encoder.process import kept_task
from onair_encoder.process.kept_task import keep_running


async def test_work_that_dies_goes_on_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kept_task, "PAUSE_S", 0.0)
    begun: list[None] = []

    async def run() -> None:
        begun.append(None)
        if len(begun) == 1:
            raise KeyError("url")
        if len(begun) > 2:
            await asyncio.Event().wait()

    task = asyncio.create_task(keep_running(run, "page"))
    await until(lambda: len(begun) == 3, "it was begun three times")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    said = capfd.readouterr().err
    assert (said.count("task.died"), "page" in said, "url" in said) == (1, True, True)
