"""Waits for what has to be cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from onair_crds.session_error import SessionError


async def unless(closing: asyncio.Event, storing: Coroutine[Any, Any, None]) -> None:
    """Waits for what is being stored, until `closing` is set.

    Raises:
        SessionError: it was cancelled, as the time to end is nearly over.
    """
    task, closed = asyncio.ensure_future(storing), asyncio.ensure_future(closing.wait())
    try:
        await asyncio.wait({task, closed}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise SessionError("the end of the recording could not be stored in time")
        task.result()
    finally:
        for each in (task, closed):
            each.cancel()
        await asyncio.gather(task, closed, return_exceptions=True)
