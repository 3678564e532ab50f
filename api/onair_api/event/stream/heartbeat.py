"""What a stream is sent while nothing happens, so that no proxy and no client takes it for dead.

A WebSocket gets pings, from uvicorn; a stream over HTTP or RPC a message after `EventSettings.heartbeat_s`.
"""

from __future__ import annotations

from onair_api.event.event import Format, dumps, result_message
from onair_api.event.stream.session import Session

PING_INTERVAL_S = 20.0
PING_TIMEOUT_S = 20.0
"""A WebSocket whose client has not answered a ping by then is closed."""


def heartbeat(session: Session) -> bytes:
    """A comment of server-sent events; a pong that nobody asked for where each line is a message."""
    if session.sender.format is Format.SSE:
        return b": heartbeat\n\n"
    return session.sender.format.frame(result_message({"sessionId": dumps(session.id), "pong": dumps("")}))
