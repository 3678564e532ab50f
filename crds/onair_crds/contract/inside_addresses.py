"""Tells addresses inside an installation from those of the public internet: what urls of tenants may lead to.

A url's host is judged as it stands (`InsideRules.refusal`), and what its name resolves to when a connection
is made (`addresses`). Pure but for that.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import BeforeValidator, ConfigDict

from onair_crds.contract.inside_ranges import INSIDE_IPV4, INSIDE_IPV6, NAT64, Network, network_of
from onair_crds.contract.wire_model import WireModel
from onair_crds.name_lookups import SocketAddress, name_lookups

Address = IPv4Address | IPv6Address
Range = Annotated[
    Network, BeforeValidator(lambda value: network_of(value) if isinstance(value, str) else value)
]
"""A network as people write it, who may give an address of it instead of its first."""

INSIDE_LABELS = frozenset(("arpa", "cluster", "default", "home", "internal", "intranet", "lan")) | frozenset(
    ("local", "localdomain", "localhost", "pod", "private", "svc")
)
"""Last labels of names that no public name server knows."""
DEFAULT_PORTS = {"http": 80, "https": 443, "rtmp": 1935, "rtmps": 443}
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_NAME = re.compile(r"[\w-]+(\.[\w-]+)*")


class InsideAddress(Exception):
    """A name leads inside, where nothing is to be connected to. The text has neither name nor address."""


class InsideRules(WireModel):
    """What is inside, and what of it is allowed nevertheless."""

    model_config = ConfigDict(frozen=True)

    refused: bool = True
    """False: every address is allowed."""
    allowed_hosts: tuple[str, ...] = ()
    """Hosts that are allowed wherever they lead: `name:port`, `name`, or `*.suffix` for all names below."""
    allowed_ranges: tuple[Range, ...] = ()
    refused_ranges: tuple[Range, ...] = ()
    """Refused besides all that is not of the public internet, such as a cluster's own public ranges."""

    def refusal(self, url: str) -> str | None:
        """Why a url may not be used, as far as its text says; None if it may be."""
        if not self.refused:
            return None
        try:
            parts = urlsplit(url)
            host, port = host_of(parts.hostname or ""), parts.port or DEFAULT_PORTS.get(parts.scheme)
        except ValueError:
            return "must name a host, and a port up to 65535"
        if "\\" in parts.netloc:
            return "must hold no backslash: browsers read it as the end of the host"
        if self.allows_host(host, port):
            return None
        if address := literal_address(host):
            return None if self.allows(address) else f"must not lead to an inside address ({_ALLOW})"
        if not _NAME.fullmatch(host):
            return "must name a host by letters, digits, '-' and '.'"
        if "." not in host or _is_inside_label(host.rpartition(".")[2]):
            return f"must not lead to a name that only this network knows ({_ALLOW})"
        return None

    def allows(self, address: Address) -> bool:
        """Whether an address may be connected to."""
        address = _embedded(address)
        if not self.refused or _within(address, self.allowed_ranges):
            return True
        return not _within(address, (*INSIDE_IPV4, *INSIDE_IPV6, *self.refused_ranges))

    def allows_host(self, host: str, port: int | None) -> bool:
        """Whether a host, as `host_of` gives it, is allowed wherever it leads."""
        for each in self.allowed_hosts:
            name, _, only = each.lower().partition(":")
            if only and str(port) != only:
                continue
            if host == name or (name.startswith("*.") and host.endswith(name[1:])):
                return True
        return False

    async def addresses(self, host: str, port: int) -> list[SocketAddress]:
        """Addresses of a host, all of them allowed, in the order in which they are to be tried.

        Connect to one of these and not to the name: it may change.

        Raises:
            InsideAddress: one of them is inside.
            OSError, UnicodeError: the name cannot be resolved.
        """
        found = await name_lookups().addresses(host, port)
        if not self.allows_host(host_of(host), port):
            for _, address in found:
                if not self.allows(ip_address(str(address[0]).partition("%")[0])):
                    raise InsideAddress
        return found


EVERYWHERE = InsideRules(refused=False)
_ALLOW = "value `inside`"


def host_of(text: str) -> str:
    """A url's host as programs that connect to it understand it: in lower case, without escapes."""
    host = unicodedata.normalize("NFKC", unquote(text)).lower().replace("\u3002", ".")
    return host.partition("%")[0].rstrip(".")


def literal_address(host: str) -> Address | None:
    """The address that a host is, in any spelling that C libraries and browsers take; None of a name."""
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return _old_ipv4(host)


def _old_ipv4(host: str) -> IPv4Address | None:
    """One to four numbers, decimal, octal or hexadecimal, of which the last fills what is left."""
    parts = host.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        *leading, last = (_number(part) for part in parts)
    except ValueError:
        return None
    left = 4 - len(leading)
    if any(each > 255 for each in leading) or last >= 256**left:
        return None
    value = last
    for place, each in enumerate(leading):
        value += each * 256 ** (3 - place)
    return IPv4Address(value)


def _number(text: str) -> int:
    if text[:2].lower() == "0x":
        return int(text[2:] or "0", 16)
    return int(text, 8) if text[0] == "0" and len(text) > 1 else int(text)


def _is_inside_label(label: str) -> bool:
    """Public ones are words or `xn--…`; names of namespaces and numbers are none."""
    public = label.startswith("xn--") or ("-" not in label and "_" not in label)
    return label in INSIDE_LABELS or not public or label[0].isdigit()


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, if any."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None) or address


def _within(address: Address, networks: Sequence[Network]) -> bool:
    return any(address.version == each.version and address in each for each in networks)
