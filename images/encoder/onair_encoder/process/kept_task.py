"""Work beside all else that goes on, whatever an error in this program does to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from onair_crds.runtime.stderr_log import log

PAUSE_S = 1.0


async def keep_running(run: Callable[[], Awaitable[None]], name: str) -> None:
    """Runs it until cancelled, again after each end that it was not meant to have.

    Ending the agent instead would cut every stream, for what the picture may not even need at the moment.

    Args:
        name: for the log.
    """
    while True:
        try:
            await run()
        except Exception as error:  # noqa: BLE001  it is logged, and the work goes on
            log("task.died", name=name, error=repr(error))
        await asyncio.sleep(PAUSE_S)
