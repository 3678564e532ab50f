"""Parses the url of an SRT listener, and the options of the session in its query. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from onair_crds.session_error import SessionError

DEFAULT_LATENCY_MS = 120
MAX_LATENCY_MS = 30_000
MAX_STREAM_ID = 512
KEY_BYTES = (16, 24, 32)
PASSPHRASE_LENGTH = range(10, 80)


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
        parts = urlsplit(base)
        try:
            port = parts.port
        except ValueError as error:
            raise SessionError("the url's port is not a number up to 65535", permanent=True) from error
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
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def checked_passphrase(passphrase: str | None) -> str | None:
    """Returns a passphrase that SRT takes, or None for none.

    Raises:
        SessionError: it is of a length that SRT does not take.
    """
    if passphrase and len(passphrase.encode()) not in PASSPHRASE_LENGTH:
        raise SessionError("the passphrase must have 10 to 79 characters", permanent=True)
    return passphrase or None


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
