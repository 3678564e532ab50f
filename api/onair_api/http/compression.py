"""gzip for large responses whose clients accept it. Event streams and media are left alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import zlib
from concurrent.futures import ThreadPoolExecutor

from starlette.middleware.gzip import GZipResponder
from starlette.types import ASGIApp, Receive, Scope, Send

from onair_api.live.source.hls import PATH

LEAST_BYTES = 4096
"""Below it compression saves a network packet or two and costs a tenth of a millisecond of CPU."""
INLINE_BYTES = 32_768
"""Compressed at once, in half a millisecond."""
SLICE_BYTES = 65_536
"""Of more, compressed by a thread, in turn with slices of others."""
LEVEL = 4
"""JSON of resources shrinks to a sixth or less; higher levels save little more and take twice as long."""
AS_THEY_ARE = ("/event/", "/grpcweb/event/", f"{PATH}/")
THREADS = 2
NICE = 10
"""Of the threads: they have no core that the event loop wants."""


class Compression:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._threads = ThreadPoolExecutor(THREADS, "compression", _yield_to_others)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted = (
            scope["type"] == "http" and not scope["path"].startswith(AS_THEY_ARE) and _accepts_gzip(scope)
        )
        await (_Responder(self._app, self._threads) if wanted else self._app)(scope, receive, send)


class _Responder(GZipResponder):
    def __init__(self, app: ASGIApp, threads: ThreadPoolExecutor) -> None:
        super().__init__(app, LEAST_BYTES, LEVEL)
        self._threads = threads

    async def apply_compression(self, body: bytes, *, more_body: bool) -> bytes:
        if len(body) <= INLINE_BYTES:
            return self.compressor.compress(body) + self._flushed(more_body)
        loop, view = asyncio.get_running_loop(), memoryview(body)
        compressed = [
            await loop.run_in_executor(self._threads, self.compressor.compress, view[at : at + SLICE_BYTES])
            for at in range(0, len(body), SLICE_BYTES)
        ]
        return b"".join([*compressed, self._flushed(more_body)])

    def _flushed(self, more_body: bool) -> bytes:
        return self.compressor.flush(zlib.Z_SYNC_FLUSH if more_body else zlib.Z_FINISH)


def _yield_to_others() -> None:
    """Leaves the core to threads that want it, of this process and of others."""
    # A sandbox may not permit it
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    with contextlib.suppress(OSError):
        os.nice(NICE)


def _accepts_gzip(scope: Scope) -> bool:
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            for coding in value.split(b","):
                kind, _, weight = coding.partition(b";")
                if kind.strip().lower() == b"gzip":
                    return weight.replace(b" ", b"") not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False
