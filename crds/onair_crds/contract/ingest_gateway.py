"""What operator, facade and encoder agents send to the gateway of each ingest server. Pure.

A gateway knows streams, not sources: a stream's name follows from its stream key by a one-way hash, or from
the name of the source that is pulled. Whoever knows the key knows the stream; nobody learns a key from it.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from onair_crds.contract.times import parse_time
from onair_crds.contract.wire_model import Secret, WireModel
from onair_crds.resources.base import MAX_TEXT
from onair_crds.resources.values import Timestamp

PORT = 8448
"""HTTP port of a gateway, for operator, facade and encoder agents only."""

STREAMS_PATH = "/v1/streams"
"""GET: NDJSON of `StreamState` and `Heartbeat`: first every stream, then a heartbeat, then each change as it
happens, and a heartbeat every HEARTBEAT_S. A line of an unknown type, or with an unknown value, is skipped.
DELETE `/v1/streams/{stream}`: disconnects its publisher; 404 where there is none."""
PULLS_PATH = "/v1/pulls"
"""PUT `Pulls`: everything that this gateway is to pull; what is not named any more is ended."""
HEARTBEAT_S = 0.5

TERM_HEADER = "OnAir-Leader-Term"
"""Header of the operator's requests: a number that grows with each leader. What one with a lower number
than a gateway has heard of wants to be pulled or disconnected is refused: 409."""

INGEST_SECRET = "onair-ingest"  # noqa: S105 - the name of a Secret
"""Secret of the release's namespace, made by the operator, that tokens of gateways are made with."""
INGEST_SECRET_KEY = "secret"  # noqa: S105 - the name of a key
"""Key within it; the bytes of its value, as a volume shows them, are the `secret` of the functions below."""

LEAST_SECRET_BYTES = 16

SECRET_SETTLE_S = 180.0
"""From a new secret until tokens for gateways are made with it: Kubernetes brings it into their volumes
within two minutes; they accept the former one for ten."""
MAX_TERM_DIGITS = 20
MAX_REFUSED = 100
"""Refused publishers, and previews that wait, that one heartbeat reports; more are omitted."""

HOOK_PATH = "/internal/ingest/publish"
"""POST `PublishRequest` to the facade: 204 admits, 403 with `PublishRefusal` does not. On no public port."""


def term_of(header: str) -> int | None:
    """The leader's term that a header shows; None if it shows none."""
    return int(header) if header.isascii() and header.isdecimal() and len(header) <= MAX_TERM_DIGITS else None


def stream_of_key(stream_key: str) -> str:
    """The stream that is pushed with a key: 32 hexadecimal digits."""
    return hashlib.sha256(b"onair stream\0" + stream_key.encode()).hexdigest()[:32]


def stream_of_pull(source_id: str) -> str:
    """The stream of a source that is pulled."""
    return f"pull-{source_id}"


class Video(WireModel):
    """What arrives as video; what is not known yet is None."""

    codec: str
    profile: str | None = None
    """Of H.264, such as High."""
    width: int | None = None
    height: int | None = None
    framerate: float | None = None
    """Frames per second, measured."""


class Audio(WireModel):
    """The audio of a stream."""

    codec: str
    sample_rate: int | None = None
    channels: int | None = None


def _checked_time(text: str) -> str:
    if parse_time(text).tzinfo is None:
        raise ValueError("a time without an offset")
    return text


Address = Annotated[str, Field(max_length=64)]
"""IP address of a publisher, as its server sees it."""


class StreamState(WireModel):
    """One stream, whole. One that ended is reported once more, with `online` False."""

    type: Literal["stream"] = "stream"
    stream: str
    online: bool
    """Whether a publisher is connected, or a pull."""
    flowing: bool
    """Whether media arrived within the last second."""
    since: Annotated[Timestamp, AfterValidator(_checked_time)]
    """When `flowing` last changed, by the gateway's clock; with its offset from UTC."""
    protocol: Literal["rtmp", "rtmps", "srt", "pull"]
    publisher: Address | None = None
    """Where it comes from; None for a pull."""
    video: Video | None = None
    audio: Audio | None = None
    error: Annotated[str, Field(max_length=MAX_TEXT)] | None = None
    """Why it ended, or why a pull does not succeed; no key, and of a url only host and port."""
    next_attempt_s: int | None = None
    """Of a pull that does not succeed: within how many seconds from then it is tried again."""
    unknown: bool = False
    """Of one that ended: whether it did so with its ingest server, or with this gateway, so that its
    publisher may come back with it. Told once more, with False, when the server is back without it."""


RefusedReason = Literal["Disabled", "InUse", "WrongProtocol"]


class RefusedPublisher(WireModel, frozen=True):
    """Somebody who shows the key of a source, and was not let in."""

    stream: str
    reason: RefusedReason
    publisher: Address | None = None
    """Where they come from."""


def _without_unknown(refused: object) -> object:
    known = get_args(RefusedReason)
    if not isinstance(refused, list):
        return refused
    return [each for each in refused if not isinstance(each, dict) or each.get("reason") in known]


class Heartbeat(WireModel):
    """Says that all streams have been reported."""

    type: Literal["heartbeat"] = "heartbeat"
    refused: Annotated[
        list[RefusedPublisher], Field(max_length=MAX_REFUSED), BeforeValidator(_without_unknown)
    ] = []
    """Since the heartbeat before; without those whose reason only newer gateways know."""
    waiting: Annotated[list[str], Field(max_length=MAX_REFUSED)] = []
    """Streams whose previews have begun, since then, to wait until another one ends."""


class Pull(WireModel):
    """A stream that a gateway is to pull."""

    url: Secret
    """May hold a key."""


class Pulls(WireModel):
    """All streams that a gateway is to pull."""

    pulls: dict[str, Pull]
    """By stream, see `stream_of_pull`."""


class PublishRequest(WireModel):
    """Asks the facade whether somebody may publish. The key is a secret."""

    stream_key: Secret
    protocol: Literal["rtmp", "rtmps", "srt"]
    gateway: str
    """Name of the gateway's pod, such as `onair-ingest-0`."""


class PublishRefusal(WireModel):
    """Why somebody may not publish."""

    reason: Literal["UnknownKey", "Disabled", "InUse", "WrongProtocol"]
    message: Annotated[str, Field(max_length=MAX_TEXT)]


def usable_secret(value: bytes) -> bytes:
    """The installation's secret as it was read, for whoever checks tokens by it.

    Raises:
        ValueError: it is empty or could be guessed, and so could every token.
    """
    if len(value) < LEAST_SECRET_BYTES:
        raise ValueError(
            f"the secret of ingest has {len(value)} bytes, at least {LEAST_SECRET_BYTES} are needed"
        )
    return value


def gateway_token(secret: bytes, audience: Literal["operator", "facade"]) -> str:
    """The bearer token that the operator shows to gateways, or a gateway to the facade."""
    return hmac.new(secret, b"onair gateway " + audience.encode(), hashlib.sha256).hexdigest()


def reader_token(secret: bytes, stream: str) -> str:
    """The bearer token that reads one stream from a gateway, and nothing else."""
    return hmac.new(secret, b"onair reader " + stream.encode(), hashlib.sha256).hexdigest()
