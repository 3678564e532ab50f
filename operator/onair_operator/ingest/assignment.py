"""Which gateway pulls a source. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable

from onair_operator.ingest.observed import GatewayContact, GatewayView


def puller_of(
    source: str, before: str | None, gateways: Iterable[GatewayView], regions: Collection[str] = ()
) -> str | None:
    """The gateway that pulls a source: the one that does, while it can be reached, else another one.

    A source that moves goes to the one that its name chooses, so that sources spread and those of other
    gateways stay where they are: of the regions that it is on air in, where one of these has a gateway. Where
    none can be reached it stays, as its pull may well go on.
    """
    known = {each.name: each for each in gateways}
    if before in known and known[before].contact is not GatewayContact.UNREACHABLE:
        return before
    reachable = [each for each in known.values() if each.contact is GatewayContact.REACHABLE]
    near = [each.name for each in reachable if each.region in regions] or [each.name for each in reachable]
    stays = before if before in known else None
    return max(near, key=lambda name: hashlib.sha256(f"{source}\n{name}".encode()).digest(), default=stays)
