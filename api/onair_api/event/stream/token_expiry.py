"""Ends a stream with its token: asks the client to reconnect in time, then closes."""

from __future__ import annotations

import asyncio
import time

from onair_api.errors import Unauthenticated
from onair_api.event.stream.session import Session, final_message

CLOSE_CODE = 1008
"""Policy violation (RFC 6455, section 7.4.1)."""


def end_at_expiry(session: Session, expires: float, lead_s: float) -> None:
    """Asks the session to reconnect before its token expires, and closes it when it does.

    Args:
        expires: in seconds since the epoch.
        lead_s: how long before; half of what is left where that is shorter.
    """
    loop = asyncio.get_running_loop()
    left_s = max(0.0, expires - time.time())
    session.end_timers = [
        loop.call_later(
            left_s - min(lead_s, left_s / 2),
            lambda: session.ask_to_reconnect(expires, reauthenticate=True),
        ),
        loop.call_later(left_s, lambda: _end(session, "the access token has expired")),
    ]


def end_revoked(session: Session, within_s: float) -> None:
    """Its token was redeemed or revoked: the client gets a moment to reconnect with another one."""
    for timer in session.end_timers:
        timer.cancel()
    session.ask_to_reconnect(time.time() + within_s, reauthenticate=True)
    loop = asyncio.get_running_loop()
    session.end_timers = [
        loop.call_later(within_s, lambda: _end(session, "the access token is no longer valid"))
    ]


def _end(session: Session, reason: str) -> None:
    session.sender.push(final_message(Unauthenticated(reason), session.sender.format))
    session.sender.end(CLOSE_CODE, reason)
