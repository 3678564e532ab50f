"""Tokens in the addresses of players: each opens one source's HLS preview, and nothing else. Pure.

An address that is shown somewhere is good for a few minutes. Whoever opens it within them is given another,
with which their player continues until the access token that requested the preview ends, or is revoked.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, replace
from enum import StrEnum

from onair_api.auth.identity import ApiKeyRef, Origin

OPEN_LIFE_S = 300
_SEPARATOR = "."


class Purpose(StrEnum):
    """What a token is for: to open a preview, or to play one that was opened."""

    OPEN = "o"
    PLAY = "p"


@dataclass(frozen=True)
class PlayToken:
    """What a token says."""

    purpose: Purpose
    source: str
    uid: str
    """Of the source, so that it opens no later one of that name."""
    expires_s: int
    """Unix time."""
    until_s: int
    """End of the access token that it was asked for with."""
    lineage: tuple[str, ...]
    api_key: ApiKeyRef | None
    signing_key: str
    """What that access token goes back to: it ends with them."""

    def encode(self, secret: bytes) -> str:
        """Characters that a path of a URL may have."""
        key = self.api_key and (self.api_key.secret, self.api_key.uid)
        times = (self.expires_s, self.until_s)
        fields = (self.purpose, self.source, self.uid, *times, self.lineage, key, self.signing_key)
        text = base64.urlsafe_b64encode(json.dumps(fields, separators=(",", ":")).encode()).decode()
        return f"{_signature(secret, text)}{_SEPARATOR}{text}"

    def to_play(self) -> PlayToken:
        """The one that whoever opens it is given."""
        return replace(self, purpose=Purpose.PLAY, expires_s=self.until_s)


def opening(source: str, uid: str, now_s: float, until_s: float, origin: Origin) -> PlayToken:
    """The token of an address that is handed out.

    Args:
        until_s: when the access token ends that it is asked for with.
        origin: what that goes back to.
    """
    end_s = int(until_s)
    expires_s = min(int(now_s) + OPEN_LIFE_S, end_s)
    goes_back_to = (origin.lineage, origin.api_key, origin.signing_key)
    return PlayToken(Purpose.OPEN, source, uid, expires_s, end_s, *goes_back_to)


def decode(token: str, secret: bytes, purpose: Purpose, now_s: float) -> PlayToken | None:
    """Decodes a token; None if it is not this installation's, for something else, or expired."""
    signature, _, text = token.partition(_SEPARATOR)
    if not hmac.compare_digest(signature.encode(), _signature(secret, text).encode()):
        return None
    fields = json.loads(base64.urlsafe_b64decode(text))
    given, source, uid, expires_s, until_s, lineage, key, *signing_key = fields
    (signed_with,) = signing_key or ("",)  # one from before it was said
    api_key = ApiKeyRef(*key) if key else None
    found = PlayToken(Purpose(given), source, uid, expires_s, until_s, tuple(lineage), api_key, signed_with)
    return found if found.purpose is purpose and now_s < found.expires_s else None


def _signature(secret: bytes, text: str) -> str:
    return hmac.new(secret, b"onair player " + text.encode(), hashlib.sha256).hexdigest()
