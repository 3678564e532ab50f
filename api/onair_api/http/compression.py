"""gzip for large responses whose clients accept it. Event streams and media are left alone."""

from __future__ import annotations

from anyio.to_thread import current_default_thread_limiter
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from onair_api.live.source.hls import PATH

LEAST_BYTES = 4096
"""Below it compression saves a network packet or two and costs a tenth of a millisecond of CPU."""
LEVEL = 4
"""JSON of resources shrinks to a sixth or less; higher levels save little more and take twice as long."""
AS_THEY_ARE = ("/event/", "/grpcweb/event/", f"{PATH}/")


class Compression:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._gzip = GZipMiddleware(app, minimum_size=LEAST_BYTES, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted = (
            scope["type"] == "http" and not scope["path"].startswith(AS_THEY_ARE) and _accepts_gzip(scope)
        )
        await (self._gzip if wanted else self._app)(scope, receive, send)


def load() -> None:
    """Loads what compresses in threads: with the first large response that would hold up others for 40 ms."""
    current_default_thread_limiter()


def _accepts_gzip(scope: Scope) -> bool:
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            for coding in value.split(b","):
                kind, _, weight = coding.partition(b";")
                if kind.strip().lower() == b"gzip":
                    return weight.replace(b" ", b"") not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False
