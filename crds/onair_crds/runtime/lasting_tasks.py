"""Tasks that run beside a program for as long as it does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

log = structlog.get_logger()


class LastingTasks:
    """Tasks of a part of a program. One dies only of an error in this program, which a restart makes good."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self.alive = True
        """Whether none has died."""

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Starts one; `name` is for the log."""
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(self._ended)
        self._tasks.append(task)

    async def stop(self) -> None:
        """Cancels all, and waits for their end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self.alive = False
            log.error("task.died", task=task.get_name(), error=type(error).__name__)
