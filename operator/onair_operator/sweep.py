"""Secrets that the facade made for a destination or source that never came to be, or is gone. Pure."""

from __future__ import annotations

import datetime as dt

from onair_crds.contract.labels import DESTINATION_LABEL, SOURCE_LABEL
from onair_operator.observed import SecretView
from onair_operator.store import Entry, Store

GRACE = dt.timedelta(minutes=10)
"""The facade writes the Secret first and the resource a moment later."""
MADE_FOR = {DESTINATION_LABEL: "Destination", SOURCE_LABEL: "Source"}


def orphaned_secrets(store: Store, now: dt.datetime) -> list[SecretView]:
    """Credentials whose label names a resource that does not exist, older than the grace."""
    views = [SecretView.of(entry.document) for entry in store.all("Secret") if _is_orphaned(store, entry)]
    return [view for view in views if view.allowed and now - view.created > GRACE]


def _is_orphaned(store: Store, secret: Entry) -> bool:
    labels = secret.document["metadata"].get("labels") or {}
    named = [(kind, labels[label]) for label, kind in MADE_FOR.items() if label in labels]
    return bool(named) and all(store.get(kind, name) is None for kind, name in named)
