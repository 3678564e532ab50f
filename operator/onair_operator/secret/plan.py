"""Deletes Secrets of the facade whose destination or source never came to be, or is gone. Pure."""

from __future__ import annotations

import datetime as dt

from onair_operator.cluster.actions import Action, DeleteSecret, Requeue
from onair_operator.cluster.queue import Key
from onair_operator.cluster.watched_kinds import SECRET
from onair_operator.secret.observe import ObservedSecret
from onair_operator.settings import OperatorSettings

GRACE = dt.timedelta(minutes=10)
"""The facade writes the Secret first and the resource a moment later."""


def make_plan(observed: ObservedSecret, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Deletes credentials that nothing uses once they are older than the grace."""
    secret = observed.secret
    if observed.in_use or not secret.allowed:
        return []
    remaining = secret.created + GRACE - now
    if remaining >= dt.timedelta():
        return [Requeue(Key(SECRET, secret.name), remaining.total_seconds() + 0.05)]
    return [DeleteSecret(secret.name, secret.uid)]
