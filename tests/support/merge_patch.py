"""JSON merge patch (RFC 7386), as an API server applies it."""

from __future__ import annotations

from onair_crds.shapes import Document


def merged(before: Document, patch: Document) -> Document:
    """The document after the patch; a null removes a member."""
    after = dict(before)
    for key, value in patch.items():
        if value is None:
            after.pop(key, None)
        elif isinstance(value, dict):
            after[key] = merged(before.get(key) or {}, value)
        else:
            after[key] = value
    return after
