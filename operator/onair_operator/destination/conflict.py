"""The condition of a destination that another project publishes to as well. Pure."""

from __future__ import annotations

import datetime as dt

from onair_crds.resources.base import MAX_TEXT
from onair_crds.resources.destination import Destination, DestinationStatus
from onair_crds.resources.enums import ConnectState
from onair_operator.specs.ready import Verdict, with_condition

CONFLICTED = "Conflicted"


def with_conflict(
    destination: Destination, status: DestinationStatus, rival: str | None, now: dt.datetime
) -> DestinationStatus:
    """The status with Conflicted as long as it is so.

    Args:
        rival: who publishes the same stream, as a phrase.
    """
    if rival is None:
        return status.model_copy(
            update={"conditions": [c for c in status.conditions if c.type != CONFLICTED]}
        )
    message = (
        f"{rival} is on air with the same address and key: a server accepts only one such stream, so they"
        " disconnect each other; give one its own key, or disable it"
    )
    verdict = Verdict(True, "StreamKeyInUse", message)
    told = with_condition(status.conditions, CONFLICTED, verdict, destination.generation, now)
    error = status.last_error
    if error and status.connect is ConnectState.DISCONNECTED:
        error = f"{error}; {rival} is on air with the same address and key"[:MAX_TEXT]
    return status.model_copy(update={"conditions": [*told[1:], told[0]], "last_error": error})
