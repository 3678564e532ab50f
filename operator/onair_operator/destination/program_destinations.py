"""The destinations of a project as its encoder is to see them, and why it does not see others. Pure."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, cast

from pydantic import SecretStr

from onair_crds.contract.labels import CREDENTIALS_TYPE
from onair_crds.contract.program import ProgramDestination, ProgramRtc, ProgramStorage
from onair_crds.contract.push_addresses import RtmpAddress, SrtAddress
from onair_crds.resources.destination import Destination, HlsPackaging, ObjectStorage, RtcPlatform
from onair_crds.resources.values import SecretKeyRef
from onair_crds.session_error import SessionError
from onair_operator.cluster.receiver import Receiver
from onair_operator.room.providers import RtcProvider
from onair_operator.room.publisher_tokens import publisher_token
from onair_operator.secret.observed import SecretView

ProgramType = Literal["RTMP", "RTMPS", "SRT", "RTC", "HLS"]


KEPT_REASONS = {"SecretNotFound", "SecretKeyNotFound"}
"""Reasons of a refusal in spite of which an encoder that has the values already continues with them."""


@dataclass(frozen=True)
class DestinationRefusal:
    """Why a destination cannot be part of the programme: reason constant and sentence."""

    reason: str
    message: str


class DestinationRefused(Exception):
    """A destination cannot be part of the programme."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.refusal = DestinationRefusal(reason, message)


class DeliveryContext(Protocol):
    """What is known of a project, as far as its destinations are delivered with it."""

    @property
    def destinations(self) -> Sequence[Destination]: ...
    @property
    def secrets(self) -> Mapping[str, SecretView]: ...
    @property
    def rtc_providers(self) -> Mapping[str, RtcProvider]: ...
    @property
    def service_id(self) -> str: ...
    @property
    def receivers(self) -> Iterable[Receiver]: ...


Deliveries = Mapping[str, ProgramDestination | DestinationRefusal]
"""By the name of the destination; a disabled one is as it would be."""


def deliveries(observed: DeliveryContext, rooms_until: dt.datetime | None = None) -> Deliveries:
    """Each destination as the encoder is to see it, or why it cannot be.

    Of several that would publish as one, the oldest does: a server takes one publisher, so that they
    would end each other's streams in turns.
    """
    found: dict[str, ProgramDestination | DestinationRefusal] = {}
    first: dict[tuple[str, ...], str] = {}
    for destination in sorted(observed.destinations, key=_age):
        program = _program(destination, observed, rooms_until)
        if isinstance(program, ProgramDestination) and wanted(destination) and (stream := stream_of(program)):
            other = first.setdefault(stream, destination.name)
            if other != destination.name:
                program = DestinationRefusal(
                    "DuplicateDestination",
                    f"destination {other} delivers to the same address with the same key, and a server"
                    " takes one stream of it; give this one a key of its own, or disable one",
                )
        found[destination.name] = program
    return found


def wanted(destination: Destination) -> bool:
    """Whether a destination is to be delivered to."""
    return destination.spec.enabled and not destination.deleting


def _program(
    destination: Destination, observed: DeliveryContext, rooms_until: dt.datetime | None
) -> ProgramDestination | DestinationRefusal:
    """As `program_destination`; one that cannot be read is refused, so that the others are delivered to."""
    try:
        return program_destination(
            destination,
            observed.secrets,
            observed.rtc_providers,
            rooms_until,
            observed.service_id,
            observed.receivers,
        )
    except ValueError:
        return DestinationRefusal(
            "InvalidAddress", "the address or a value of its Secrets cannot be read; correct it"
        )


def _age(destination: Destination) -> tuple[str, str]:
    return str(destination.metadata.get("creationTimestamp", "")), destination.name


def stream_of(program: ProgramDestination) -> tuple[str, ...] | None:
    """What a server knows the stream by.

    None for storage, whose encoder guards its prefixes itself, and for an address that no encoder takes.
    """
    if program.rtc:
        return program.rtc.url, program.rtc.room, program.rtc.identity
    if program.storage:
        return None
    key = program.key.get_secret_value() if program.key else None
    address = SrtAddress if program.type == "SRT" else RtmpAddress
    try:
        return address.of(program.url, key).stream
    except SessionError:
        # The encoder says what is wrong with it, and publishes nothing.
        return None


def program_destination(
    destination: Destination,
    known_secrets: Mapping[str, SecretView],
    rtc_providers: Mapping[str, RtcProvider],
    rooms_until: dt.datetime | None = None,
    service_id: str = "",
    receivers: Iterable[Receiver] = (),
) -> ProgramDestination | DestinationRefusal:
    """One destination as the encoder is to see it, or why it cannot be.

    Args:
        known_secrets: those that the address refers to, by name.
        rtc_providers: by `appId`.
        rooms_until: when the tokens of rooms end; None if nobody is to join.
        service_id: of the owner of its collection; empty while that is not known.
        receivers: servers of ours, which take streams with a password that no destination has.
    """
    address = destination.spec.address
    program = ProgramDestination(
        id=destination.name,
        type=cast(ProgramType, destination.type),
        timeout_ms=destination.spec.timeout,
        generation=destination.generation,
        uid=destination.uid,
    )
    secrets = Secrets(known_secrets)
    try:
        if address.rtmp_push:
            push = address.rtmp_push
            url, key = push.url, secrets.optional(push.key_secret_ref)
            for receiver in receivers:
                url, key = receiver.with_password(url, key)
            pushed = {
                "url": url,
                "key": key,
                "passphrase": secrets.optional(push.passphrase_secret_ref),
            }
            return program.model_copy(update=pushed)
        if address.srt_push:
            srt = address.srt_push
            passphrase = secrets.optional(srt.passphrase_secret_ref)
            return program.model_copy(update={"url": srt.url, "passphrase": passphrase})
        if address.object_storage:
            return program.model_copy(update={"storage": storage(address.object_storage, secrets)})
        if address.rtc_platform:
            rtc = room(address.rtc_platform, rtc_providers, rooms_until, service_id)
            return program.model_copy(update={"rtc": rtc})
        return DestinationRefusal("NoAddress", "the address is of no known kind")
    except DestinationRefused as refused:
        return refused.refusal


class Secrets:
    """Values of the Secrets that a destination may name."""

    def __init__(self, known: Mapping[str, SecretView]) -> None:
        self._known = known

    def optional(self, reference: SecretKeyRef | None) -> SecretStr | None:
        return self.value(reference) if reference else None

    def value(self, reference: SecretKeyRef) -> SecretStr:
        """The value that the reference names.

        Raises:
            DestinationRefused: there is no such value, or it may not be used.
        """
        secret = self._known.get(reference.name)
        if secret is None:
            raise DestinationRefused("SecretNotFound", f"Secret {reference.name} does not exist")
        if not secret.allowed:
            raise DestinationRefused(
                "SecretNotAllowed",
                f"Secret {reference.name} is of type {secret.type}; "
                f"only {CREDENTIALS_TYPE} may be referenced",
            )
        value = secret.value(reference.key)
        if value is None:
            raise DestinationRefused(
                "SecretKeyNotFound", f"Secret {reference.name} has no key {reference.key}"
            )
        return SecretStr(value)


def storage(spec: ObjectStorage, secrets: Secrets) -> ProgramStorage:
    """The address of an object storage as the programme has it.

    Raises:
        DestinationRefused: a Secret lacks what is referred to.
    """
    hls = spec.packaging.hls
    return ProgramStorage(
        region=spec.region,
        bucket=spec.bucket,
        prefix=spec.prefix or "",
        access_key=secrets.value(spec.access_key_secret_ref),
        secret_key=secrets.value(spec.secret_key_secret_ref),
        token=secrets.optional(spec.token_secret_ref),
        acl=re.sub(r"(?<!^)([A-Z])", r"-\1", spec.acl.value).lower() if spec.acl else None,
        endpoint=spec.endpoint,
        **_packaging(hls),
    )


def _packaging(hls: HlsPackaging) -> dict[str, int | bool]:
    """Only what is given; the contract's defaults are the interface's."""
    lifecycle = hls.lifecycle
    vod = lifecycle.vod if lifecycle else None
    live = lifecycle.live if lifecycle else None
    given = {
        "vod": vod is not None,
        "max_duration_ms": vod.max_duration if vod else None,
        "playlist_count": live.playlist_count if live else None,
        "file_count": live.file_count if live else None,
        "segment_duration_ms": hls.segment_duration,
    }
    return {name: value for name, value in given.items() if value is not None}


def room(
    spec: RtcPlatform, providers: Mapping[str, RtcProvider], until: dt.datetime | None, service_id: str
) -> ProgramRtc:
    """Returns the room that a destination publishes to.

    Raises:
        DestinationRefused: there is no such provider for this service, or the channel is not one of its own.
    """
    provider = providers.get(spec.app_id)
    if provider is None:
        raise DestinationRefused(
            "ProviderNotConfigured", f"no provider is configured for appId {spec.app_id}"
        )
    if not provider.usable:
        raise DestinationRefused(
            "ProviderNotConfigured", f"the API key of the provider for appId {spec.app_id} is missing"
        )
    if provider.services and service_id not in provider.services:
        raise DestinationRefused(
            "ProviderNotAllowed", f"the provider for appId {spec.app_id} is not for this service"
        )
    prefix = provider.channel_prefix.replace("{serviceId}", service_id)
    if not spec.channel_id.startswith(prefix) or spec.channel_id == prefix:
        raise DestinationRefused("ChannelNotAllowed", f"channelId must begin with {prefix} at this provider")
    token = publisher_token(provider, spec.channel_id, spec.user_id, until) if until else SecretStr("")
    return ProgramRtc(
        provider=provider.type, url=provider.url, token=token, room=spec.channel_id, identity=spec.user_id
    )
