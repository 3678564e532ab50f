"""The server that a room's url names."""

from __future__ import annotations

from urllib.parse import urlsplit


def server_of(url: str) -> str:
    """host:port."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or {'wss': 443, 'https': 443}.get(parts.scheme, 80)}"
