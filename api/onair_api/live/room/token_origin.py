"""What a room's token goes back to, in the token: it ends with the access token it was made with. Pure.

It stands as the name of a room configuration, a claim that livekit-server copies into the tokens by which it
renews this one, does nothing with, and shows to nobody else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from onair_api.auth.identity import ApiKeyRef
from onair_api.auth.tokens import last_end
from onair_api.auth.verified_token import Verified
from onair_crds.shapes import Claims


@dataclass(frozen=True)
class TokenOrigin:
    lineage: tuple[str, ...]
    api_key: ApiKeyRef | None
    signing_key: str
    run: str | None = None
    """Of a page's token: the run that it is for, and ends with."""
    end: int | None = None
    """Unix seconds after which no token of its chain of refreshes is valid; None if it does not say."""


def origin_of_access(token: Verified) -> TokenOrigin:
    """What the room's token goes back to that is made with this access token.

    It does not end where that expires: who is in a room renews theirs, which nothing in the room says.
    """
    identity, end = token.identity, int(last_end(token.first_issued))
    return TokenOrigin(identity.lineage, identity.api_key, identity.signing_key, token.run, end)


def origin_text(origin: TokenOrigin) -> str:
    """Encodes what a token goes back to as text."""
    key = origin.api_key
    fields = (origin.lineage, key and (key.secret, key.uid), origin.signing_key, origin.run, origin.end)
    return json.dumps(fields, separators=(",", ":"))


def origin_of(claims: Claims) -> TokenOrigin | None:
    """What a token goes back to; None if it does not say, being older than that, or another program's."""
    configuration = claims.get("roomConfig")
    text = configuration.get("name") if isinstance(configuration, dict) else None
    try:
        lineage, key, *more = json.loads(text or "")
        # One from before it was said by which key, for which run and until when
        signed_with, run, end = {0: ("", None, None), 1: (*more, None, None)}.get(len(more), more)
        secret, uid = key or ("", "")
        return TokenOrigin(
            tuple(str(each) for each in lineage),
            ApiKeyRef(str(secret), str(uid)) if key else None,
            str(signed_with),
            None if run is None else str(run),
            None if end is None else int(end),
        )
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
