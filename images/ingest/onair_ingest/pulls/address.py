"""The address that a source is pulled from, taken apart. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from onair_crds.contract.inside_addresses import DEFAULT_PORTS
from onair_ingest.pulls.address_guard import PullRefused

SCHEMES = ("rtmp", "rtmps")
MAX_HOST = 253
"""No name is longer."""


@dataclass(frozen=True)
class PullAddress:
    """Holds keys: nothing of it is to be logged but its server."""

    scheme: str
    host: str
    port: int
    authority: str
    """Host, and port where one is given."""
    application: str
    stream: str

    @property
    def server(self) -> str:
        """Host and port, for messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def encrypted(self) -> bool:
        return self.scheme == "rtmps"

    def by_way_of(self, relay_port: int) -> str:
        """The address by which MediaMTX pulls it through a relay on the loopback."""
        stream = quote(self.stream, safe="/:=&?")
        return f"rtmp://{relay_authority(relay_port)}/{self.application}#{stream}"


def relay_authority(port: int) -> str:
    """Host and port at which MediaMTX reaches a relay."""
    return f"127.0.0.1:{port}"


def parse_address(url: str) -> PullAddress:
    """Takes an address apart: the last part of its path, or its fragment, is the stream.

    Raises:
        PullRefused: it is none of RTMP.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise PullRefused("its url is not one of RTMP") from error
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise PullRefused("its url is not one of RTMP")
    if len(parts.hostname) > MAX_HOST:
        raise PullRefused("the name of its server is too long")
    if parts.fragment:
        application, stream = parts.path.strip("/"), unquote(parts.fragment)
    else:
        application, _, stream = parts.path.strip("/").rpartition("/")
        stream = unquote(stream)
    if parts.query:
        stream += f"?{parts.query}"
    return PullAddress(
        scheme=parts.scheme,
        host=parts.hostname,
        port=port or DEFAULT_PORTS[parts.scheme],
        authority=parts.netloc.rpartition("@")[2],
        application=application,
        stream=stream,
    )
