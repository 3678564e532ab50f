"""The reaper of PID 1 goes on whatever happens: the container ends with it."""

from __future__ import annotations

import asyncio
import os

import pytest
from tests.support.waiting import until

from onair_encoder.process import orphans


async def test_a_look_that_fails_for_a_moment_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def look(parent: int) -> set[int]:
        nonlocal looks
        looks += 1
        if looks < 3:
            raise OSError("too many open files")
        return set()

    monkeypatch.setattr(os, "getpid", lambda: 1)
    monkeypatch.setattr(orphans, "REAP_S", 0.001)
    monkeypatch.setattr(orphans, "_zombies_of", look)
    reaping = asyncio.create_task(orphans.reap_orphans())
    await until(lambda: looks > 3, "it looks on")
    assert not reaping.done()
    reaping.cancel()
