"""A server that hangs is killed, once it has let enough looks in a row pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onair_encoder.browser.server_connection import ServerConnection
from onair_encoder.browser.server_watch import MOST_UNANSWERED, MOST_UNANSWERED_AT_START, ServerWatch
from onair_encoder.process.child import Child


class PlayedServer:
    """A child, and the connections to it."""

    name = "xvfb"

    def __init__(self) -> None:
        self.process: Any = None
        self.kills = 0
        self.answers = asyncio.Event()
        self.error: Exception | None = None
        self.restart()

    def restart(self) -> None:
        self.process = SimpleNamespace(returncode=None)

    def kill(self) -> bool:
        self.kills += 1
        self.process.returncode = -9
        return True

    def connect(self) -> ServerConnection:
        return cast(ServerConnection, SimpleNamespace(ask=self._ask, close=lambda: None))

    async def _ask(self) -> None:
        if self.error:
            raise self.error
        await self.answers.wait()


@pytest.fixture
async def server() -> PlayedServer:
    return PlayedServer()


@pytest.fixture
async def watch(server: PlayedServer) -> AsyncIterator[ServerWatch]:
    watch = ServerWatch(cast(Child, server), server.connect)
    yield watch
    watch._forget()


async def let_answer() -> None:
    """What was asked is answered, if it is."""
    for _ in range(2):
        await asyncio.sleep(0)


async def look(watch: ServerWatch, times: int) -> None:
    for _ in range(times):
        watch._look()
        await let_answer()


async def test_one_that_hangs_is_killed_once(watch: ServerWatch, server: PlayedServer) -> None:
    server.answers.set()
    await look(watch, 3)
    server.answers.clear()
    # The first is that whose request was still answered
    await look(watch, MOST_UNANSWERED)
    assert server.kills == 0
    await look(watch, 10)
    assert server.kills == 1


async def test_one_that_answers_late_is_left_alone(watch: ServerWatch, server: PlayedServer) -> None:
    """As after a pause of the whole pod, whatever time that took."""
    server.answers.set()
    await look(watch, 3)
    for _ in range(3):
        server.answers.clear()
        await look(watch, MOST_UNANSWERED)
        server.answers.set()
        await let_answer()
        await look(watch, 2)
    assert server.kills == 0


@pytest.mark.parametrize(
    "error", [None, FileNotFoundError(), BlockingIOError(), asyncio.IncompleteReadError(b"", 8)]
)
async def test_one_that_starts_has_longer_to_answer_and_not_forever(
    watch: ServerWatch, server: PlayedServer, error: Exception | None
) -> None:
    server.error = error
    await look(watch, MOST_UNANSWERED_AT_START)
    assert server.kills == 0
    await look(watch, 1)
    assert server.kills == 1


async def test_what_its_predecessor_did_is_not_counted(watch: ServerWatch, server: PlayedServer) -> None:
    server.answers.set()
    await look(watch, 3)
    server.answers.clear()
    await look(watch, MOST_UNANSWERED)
    server.restart()
    await look(watch, MOST_UNANSWERED_AT_START)
    assert server.kills == 0


async def test_one_that_has_ended_is_not_asked(watch: ServerWatch, server: PlayedServer) -> None:
    server.process.returncode = 1
    await look(watch, MOST_UNANSWERED_AT_START + 1)
    server.process = None
    await look(watch, MOST_UNANSWERED_AT_START + 1)
    assert server.kills == 0
