"""The end of an object storage's session token, as its `tokenDuration` says. Pure.

A delivery is not ended by it: whether the storage takes the token any longer is the storage's to say.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping

from onair_crds.contract.times import format_time
from onair_crds.resources.destination import Destination
from onair_operator.secret.observed import SecretView

EXPIRED = "TokenExpired"


def token_end(destination: Destination, secrets: Mapping[str, SecretView]) -> dt.datetime | None:
    """When the token will have been used for its duration; None if it has none, or is not known.

    It counts from the last write of the Secret's data, so that of a token that is replaced starts over.
    """
    storage = destination.spec.address.object_storage
    if storage is None or storage.token_secret_ref is None or not storage.token_duration:
        return None
    secret = secrets.get(storage.token_secret_ref.name)
    if secret is None:
        return None
    return secret.written + dt.timedelta(milliseconds=storage.token_duration)


def expired_token(
    destination: Destination, secrets: Mapping[str, SecretView], now: dt.datetime
) -> str | None:
    """That the token should have been replaced, as a sentence; None if it need not be."""
    end = token_end(destination, secrets)
    if end is None or now < end:
        return None
    return f"the session token's tokenDuration ended at {format_time(end)}; replace the token"


def next_token_end_s(
    destinations: Iterable[Destination], secrets: Mapping[str, SecretView], now: dt.datetime
) -> float | None:
    """Seconds until the next of these tokens ends."""
    ends = (token_end(each, secrets) for each in destinations if each.spec.enabled and not each.deleting)
    return min(((end - now).total_seconds() for end in ends if end and end > now), default=None)
