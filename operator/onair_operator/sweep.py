"""Secrets that the facade made for a destination that never came to be. Pure."""

from __future__ import annotations

import datetime as dt

from onair_operator.observed import SecretView
from onair_operator.store import Store

GRACE = dt.timedelta(minutes=10)
"""The facade writes the Secret first and the destination a moment later."""


def orphaned_secrets(store: Store, now: dt.datetime) -> list[SecretView]:
    """Credentials whose label names a destination that does not exist, older than the grace."""
    views = [SecretView.of(entry.document) for entry in store.all("Secret") if entry.destination]
    return [
        view
        for view in views
        if view.allowed
        and now - view.created > GRACE
        and store.get("Destination", view.destination or "") is None
    ]
