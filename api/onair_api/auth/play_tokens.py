"""Tokens in the addresses of players: each opens one source's HLS preview, and nothing else. Pure.

An address that is shown somewhere is good for a few minutes. Who opens it within them is given another, by
which their player goes on until the access token ends that the preview was asked for with.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from enum import StrEnum

OPEN_LIFE_S = 300
_SEPARATOR = "."


class Purpose(StrEnum):
    OPEN = "o"
    PLAY = "p"


@dataclass(frozen=True)
class PlayToken:
    purpose: Purpose
    source: str
    uid: str
    """Of the source, so that it opens no later one of that name."""
    expires_s: int
    """Unix time."""
    until_s: int
    """End of the access token that it was asked for with."""

    def encode(self, secret: bytes) -> str:
        """Characters that a path of a URL may have."""
        fields = (self.purpose, str(self.expires_s), str(self.until_s), self.uid, self.source)
        text = _SEPARATOR.join(fields)
        return f"{_signature(secret, text)}{_SEPARATOR}{text}"

    def to_play(self) -> PlayToken:
        """The one that whoever opens it is given."""
        return PlayToken(Purpose.PLAY, self.source, self.uid, self.until_s, self.until_s)


def opening(source: str, uid: str, now_s: float, until_s: float) -> PlayToken:
    """The token of an address that is handed out."""
    end_s = int(until_s)
    return PlayToken(Purpose.OPEN, source, uid, min(int(now_s) + OPEN_LIFE_S, end_s), end_s)


def decode(token: str, secret: bytes, purpose: Purpose, now_s: float) -> PlayToken | None:
    """None where it is none of this installation's, for something else, or expired."""
    signature, _, text = token.partition(_SEPARATOR)
    if not hmac.compare_digest(signature.encode(), _signature(secret, text).encode()):
        return None
    given, expires, until, uid, source = text.split(_SEPARATOR, 4)
    found = PlayToken(Purpose(given), source, uid, int(expires), int(until))
    return found if found.purpose is purpose and now_s < found.expires_s else None


def _signature(secret: bytes, text: str) -> str:
    return hmac.new(secret, b"onair player " + text.encode(), hashlib.sha256).hexdigest()
