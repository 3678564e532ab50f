"""Which gateway pulls a source, and whether anybody may. Pure."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from onair_operator.ingest.observed import Contact, GatewayView

INSIDE = ("localhost", "svc", "local", "internal")
"""Last labels of names that no other network has."""


def puller_of(source: str, before: str | None, gateways: Iterable[GatewayView]) -> str | None:
    """The gateway that pulls a source: the one that does, while it can be reached, else another one.

    A source that moves goes to the first region that has a gateway, and there to the one that its name
    chooses, so that sources spread and those of other gateways stay where they are.
    """
    known = {each.name: each for each in gateways}
    if before in known and known[before].contact is not Contact.UNREACHABLE:
        return before
    reachable = [each for each in known.values() if each.contact is Contact.REACHABLE]
    near = [each.name for each in reachable if each.region == reachable[0].region]
    return max(near, key=lambda name: hashlib.sha256(f"{source}\n{name}".encode()).digest(), default=None)


def points_inside(url: str) -> bool:
    """Whether a url has a private address or a name of the cluster; no name is resolved."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        labels = host.split(".")
        # 127.1, 0x7f000001 and 2130706433 are addresses to the C library, and no names.
        return len(labels) == 1 or labels[-1] in INSIDE or labels[-1][:1].isdigit()
    mapped = getattr(address, "ipv4_mapped", None)
    return not (mapped or address).is_global
