"""Reads the addresses that a programme is pushed to by RTMP and SRT, from a url and a key. Pure.

The encoder connects by them, and the operator tells by them which destinations are one stream to a server.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from onair_crds.contract.inside_addresses import DEFAULT_PORTS, host_of, literal_address
from onair_crds.session_error import SessionError

DEFAULT_LATENCY_MS = 120
MAX_LATENCY_MS = 30_000
MAX_STREAM_ID = 512
KEY_BYTES = (16, 24, 32)


@dataclass(frozen=True)
class RtmpAddress:
    """A server, an application and a stream. `key`, the stream's name, is a secret and in no text of this."""

    scheme: str
    host: str
    port: int
    app: str
    key: str

    @classmethod
    def of(cls, url: str, key: str | None) -> RtmpAddress:
        """Parses a url; where there is no key the last part of the url's path is it.

        Raises:
            SessionError: the url has no host or no application.
        """
        parts, port = _split(url)
        path = parts.path.strip("/")
        if key is None:
            path, _, key = path.rpartition("/")
        if parts.query:
            key = f"{key}?{parts.query}"
        if not parts.hostname or parts.scheme not in ("rtmp", "rtmps"):
            raise SessionError("the url has no server", permanent=True)
        if not key:
            raise SessionError("the url has no stream key", permanent=True)
        return cls(parts.scheme, parts.hostname, port or DEFAULT_PORTS[parts.scheme], path, key)

    @property
    def server(self) -> str:
        return _server(self.host, self.port)

    @property
    def tc_url(self) -> str:
        return f"{self.scheme}://{self.server}/{self.app}"

    @property
    def stream(self) -> tuple[str, ...]:
        """What the server knows the stream by; many join application and key."""
        path = f"{self.app}/{self.key}" if self.app else self.key
        return self.scheme, _same_host(self.host), str(self.port), path

    def __repr__(self) -> str:
        return f"RtmpAddress({self.tc_url!r})"


@dataclass(frozen=True)
class SrtAddress:
    """A listener and a session with it. The stream id may be a key: it is in no text of this class."""

    host: str
    port: int
    stream_id: str = field(repr=False)
    latency_ms: int
    key_bytes: int

    @classmethod
    def of(cls, url: str, key: str | None) -> SrtAddress:
        """Parses a url, with a key that is the stream id where the url names none.

        Raises:
            SessionError: the url names no listener, or asks for what is not supported.
        """
        # A stream id may hold `#` without escapes (`#!::r=…`): nothing in the url is a fragment.
        base, _, query = url.partition("?")
        parts, port = _split(base)
        if not parts.hostname or parts.scheme != "srt":
            raise SessionError("the url has no server", permanent=True)
        if not port:
            raise SessionError("the url has no port", permanent=True)
        asked = _parameters(query)
        if asked.get("mode", "caller") != "caller":
            raise SessionError("the url asks for a mode other than caller", permanent=True)
        if "passphrase" in asked:
            raise SessionError("the url has a passphrase, which belongs in a Secret", permanent=True)
        stream_id = asked.get("streamid") or key or ""
        if len(stream_id.encode()) > MAX_STREAM_ID:
            raise SessionError(f"the stream id is longer than {MAX_STREAM_ID} bytes", permanent=True)
        return cls(parts.hostname, port, stream_id, _latency(asked), _key_bytes(asked))

    @property
    def server(self) -> str:
        return _server(self.host, self.port)

    @property
    def stream(self) -> tuple[str, ...]:
        """What the listener knows the stream by."""
        return "srt", _same_host(self.host), str(self.port), self.stream_id


def _split(url: str) -> tuple[SplitResult, int | None]:
    """A url's parts and its port, which may be none."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise SessionError("the url's host cannot be read", permanent=True) from error
    try:
        return parts, parts.port
    except ValueError as error:
        raise SessionError("the url's port is not a number up to 65535", permanent=True) from error


def _server(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _same_host(host: str) -> str:
    """A host in one spelling of those that lead to it."""
    name = host_of(host)
    return str(literal_address(name) or name)


def _parameters(query: str) -> dict[str, str]:
    """Names in lower case; `+` is no space here, as stream ids hold base64."""
    pairs = (part.partition("=") for part in query.split("&") if part)
    return {unquote(name).lower(): unquote(value) for name, _, value in pairs}


def _latency(asked: dict[str, str]) -> int:
    text = asked.get("latency", str(DEFAULT_LATENCY_MS))
    if not text.isdecimal() or int(text) > MAX_LATENCY_MS:
        raise SessionError(
            f"the url's latency is not a number of milliseconds up to {MAX_LATENCY_MS}", permanent=True
        )
    return int(text)


def _key_bytes(asked: dict[str, str]) -> int:
    text = asked.get("pbkeylen", str(KEY_BYTES[0]))
    if text not in map(str, KEY_BYTES):
        raise SessionError("the url's pbkeylen is none of 16, 24 and 32", permanent=True)
    return int(text)
