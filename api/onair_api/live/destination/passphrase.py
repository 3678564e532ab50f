"""The passphrase in an SRT url's query: a secret, so it is in the url only over HTTP. Pure."""

from __future__ import annotations

from urllib.parse import quote, unquote

NAME = "passphrase"
REFERENCE = "passphraseSecretRef"
LENGTH = range(10, 80)
"""Bytes that SRT takes."""


def is_srt(url: object) -> bool:
    """Whether a url is one of SRT."""
    return isinstance(url, str) and url[:6].lower() == "srt://"


def without_passphrase(url: str) -> tuple[str, str | None]:
    """The url without its passphrase, and the passphrase. All else stays as it was written."""
    place, mark, query = url.partition("?")
    found = None
    kept = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if unquote(name).lower() == NAME:
            found = unquote(value)
        else:
            kept.append(part)
    if found is None:
        return url, None
    rest = "&".join(kept)
    return f"{place}{mark}{rest}" if rest else place, found or None


def with_passphrase(url: str, passphrase: str) -> str:
    """The url with a passphrase as the last of its query."""
    return f"{url}{'&' if '?' in url else '?'}{NAME}={quote(passphrase, safe='')}"
