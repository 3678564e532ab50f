"""What a stream is told before it has to end, and its end with its token."""

from __future__ import annotations

import asyncio
import time

from onair_api.errors import Unauthenticated
from onair_api.event.event import dumps
from onair_api.event.session import Session, farewell


def announce_end(session: Session, expires: float, lead_s: float) -> None:
    """Tells the session to reconnect ahead of its token's end, and ends it then.

    Args:
        expires: end of the token, in seconds since the epoch.
        lead_s: how long before; half of what is left where that is shorter.
    """
    loop = asyncio.get_running_loop()
    left_s = max(0.0, expires - time.time())
    session.end_timers = [
        loop.call_later(
            left_s - min(lead_s, left_s / 2),
            lambda: tell_to_reconnect(session, expires, reauthenticate=True),
        ),
        loop.call_later(left_s, lambda: _expire(session)),
    ]


def tell_to_reconnect(session: Session, before: float, *, reauthenticate: bool) -> None:
    """
    Args:
        before: when this stream ends, in seconds since the epoch.
    """
    said = {"reauthenticate": reauthenticate, "beforeTimestamp": str(round(before * 1000))}
    session.reply(None, "reconnectBefore", dumps(said))


def _expire(session: Session) -> None:
    session.outbox.push(farewell(Unauthenticated("the access token has expired"), session.outbox.format))
    session.outbox.end(1008, "the access token has expired")
