"""The real operator in a thread, with an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Self

import httpx

from onair_operator.runtime import run
from onair_operator.settings import OperatorSettings

STOP_S = 20.0


class OperatorThread:
    """Use as a context manager."""

    def __init__(self, settings: OperatorSettings, kubeconfig: Path) -> None:
        self._settings = settings
        self._kubeconfig = kubeconfig
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(STOP_S), "the operator does not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(STOP_S)
        assert not self._thread.is_alive(), "the operator does not end"

    @property
    def ready(self) -> bool:
        """Whether its readiness probe succeeds."""
        url = f"http://127.0.0.1:{self._settings.health_port}/readyz"
        try:
            return httpx.get(url, timeout=5, trust_env=False).is_success
        except httpx.TransportError:
            return False

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._started.set()
        await run(self._settings, self._stop, str(self._kubeconfig))
