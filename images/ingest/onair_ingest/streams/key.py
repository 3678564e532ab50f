"""The stream key that a publisher shows: in its path, as a user, a password or a token. Pure."""

from __future__ import annotations

from urllib.parse import parse_qs

APPLICATION = "live"
PULLS = "pull/"
"""Paths that the gateway makes for what it pulls; nobody publishes there."""
MAX_KEY = 512
"""SRT's own bound of a stream id."""


def key_of_path(path: str) -> str | None:
    """The key in `live/<key>` or `<key>`; None if a path has none."""
    parts = [part for part in path.split("/") if part]
    if len(parts) == 2 and parts[0] == APPLICATION:
        return parts[1]
    return parts[0] if len(parts) == 1 and parts[0] != APPLICATION else None


def key_of(path: str, query: str = "", *, user: str = "", password: str = "", token: str = "") -> str | None:
    """The key of a publisher: an explicit one (token, password, user, in this order) before the path's.

    None if there is none, or none that could be one.
    """
    fields = parse_qs(query)
    explicit = (token, *fields.get("token", []), password, *fields.get("pass", []), user)
    given = [each for each in (*explicit, *fields.get("user", [])) if each]
    key = given[0] if given else key_of_path(path)
    return key if key and len(key) <= MAX_KEY else None
