"""What a stream is told before it has to end, and its end with its token."""

from __future__ import annotations

import asyncio
import time

from onair_api.errors import Unauthenticated
from onair_api.event.event import dumps
from onair_api.event.stream.session import Session, farewell


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
        loop.call_later(left_s, lambda: _end(session, "the access token has expired")),
    ]


def end_revoked(session: Session, within_s: float) -> None:
    """Its token was redeemed or taken back: it has a moment to reconnect with another one."""
    for timer in session.end_timers:
        timer.cancel()
    tell_to_reconnect(session, time.time() + within_s, reauthenticate=True)
    loop = asyncio.get_running_loop()
    session.end_timers = [
        loop.call_later(within_s, lambda: _end(session, "the access token is no longer valid"))
    ]


def tell_to_reconnect(session: Session, before: float, *, reauthenticate: bool) -> None:
    """
    Args:
        before: when this stream ends, in seconds since the epoch.
    """
    said = {"reauthenticate": reauthenticate, "beforeTimestamp": str(round(before * 1000))}
    session.reply(None, "reconnectBefore", dumps(said))


def _end(session: Session, why: str) -> None:
    session.outbox.push(farewell(Unauthenticated(why), session.outbox.format))
    session.outbox.end(1008, why)
