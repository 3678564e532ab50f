"""Delivery runs on the agent's event loop."""

import asyncio
from collections.abc import Callable, Mapping

from onair_crds.runtime.event_loop import Loop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": Loop}
