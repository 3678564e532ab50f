"""What a room's token goes back to, in the token: it ends with the access token it was made with. Pure.

It stands as the name of a room configuration, a claim that livekit-server copies into the tokens by which it
renews this one, does nothing with, and shows to nobody else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from onair_api.auth.identity import ApiKeyRef, Origin
from onair_crds.shapes import Claims


@dataclass(frozen=True)
class TokenOrigin:
    lineage: tuple[str, ...]
    api_key: ApiKeyRef | None
    signing_key: str


def origin_text(origin: Origin) -> str:
    """Encodes what a token goes back to as text."""
    key = origin.api_key
    fields = (origin.lineage, key and (key.secret, key.uid), origin.signing_key)
    return json.dumps(fields, separators=(",", ":"))


def origin_of(claims: Claims) -> TokenOrigin | None:
    """What a token goes back to; None if it does not say, being older than that, or another program's."""
    configuration = claims.get("roomConfig")
    text = configuration.get("name") if isinstance(configuration, dict) else None
    try:
        lineage, key, *signing_key = json.loads(text or "")
        (signed_with,) = signing_key or ("",)  # one from before it was said
        secret, uid = key or ("", "")
        return TokenOrigin(
            tuple(str(each) for each in lineage),
            ApiKeyRef(str(secret), str(uid)) if key else None,
            str(signed_with),
        )
    except (ValueError, TypeError, RecursionError):
        return None
