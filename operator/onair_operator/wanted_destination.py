"""One destination as the encoder is to see it, from its resource and its Secrets. Pure."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from pydantic import SecretStr

from onair_crds.contract.program import ProgramDestination, ProgramRtc, ProgramStorage
from onair_crds.resources.destination import Destination, HlsPackaging, ObjectStorage, RtcPlatform
from onair_crds.resources.values import SecretKeyRef
from onair_operator.observed import Observed
from onair_operator.room_token import livekit_token
from onair_operator.rtc_providers import RtcProvider

ProgramType = Literal["RTMP", "RTMPS", "SRT", "RTC", "HLS"]


@dataclass(frozen=True)
class Refusal:
    """Why a destination cannot be part of the programme: reason constant and sentence."""

    reason: str
    message: str


class Refused(Exception):
    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.refusal = Refusal(reason, message)


def program_destination(
    destination: Destination, observed: Observed, rooms_until: dt.datetime | None = None
) -> ProgramDestination | Refusal:
    """One destination as the encoder is to see it, or why it cannot be.

    Args:
        rooms_until: when the tokens of rooms end; None where nobody is to join.
    """
    address = destination.spec.address
    program = ProgramDestination(
        id=destination.name,
        type=cast(ProgramType, destination.type),
        timeout_ms=destination.spec.timeout,
        generation=destination.generation,
    )
    secrets = Secrets(observed)
    try:
        if address.rtmp_push:
            push = address.rtmp_push
            pushed = {
                "url": push.url,
                "key": secrets.optional(push.key_secret_ref),
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
            room = rtc(address.rtc_platform, observed.rtc_providers, rooms_until)
            return program.model_copy(update={"rtc": room})
        return Refusal("NoAddress", "the address is of no known kind")
    except Refused as refused:
        return refused.refusal


class Secrets:
    """Values of the Secrets that a destination may name."""

    def __init__(self, observed: Observed) -> None:
        self._observed = observed

    def optional(self, reference: SecretKeyRef | None) -> SecretStr | None:
        return self.value(reference) if reference else None

    def value(self, reference: SecretKeyRef) -> SecretStr:
        """What the reference names.

        Raises:
            Refused: there is no such value, or it may not be used.
        """
        secret = self._observed.secrets.get(reference.name)
        if secret is None:
            raise Refused("SecretNotFound", f"Secret {reference.name} does not exist")
        if not secret.allowed:
            raise Refused(
                "SecretNotAllowed",
                f"Secret {reference.name} is of type {secret.type}; "
                "only onair.dev/credentials may be referenced",
            )
        value = secret.value(reference.key)
        if value is None:
            raise Refused("SecretKeyNotFound", f"Secret {reference.name} has no key {reference.key}")
        return SecretStr(value)


def storage(spec: ObjectStorage, secrets: Secrets) -> ProgramStorage:
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
    """What is said; the contract's defaults are the interface's."""
    lifecycle = hls.lifecycle
    vod = lifecycle.vod if lifecycle else None
    live = lifecycle.live if lifecycle else None
    said = {
        "vod": vod is not None,
        "max_duration_ms": vod.max_duration if vod else None,
        "playlist_count": live.playlist_count if live else None,
        "file_count": live.file_count if live else None,
        "segment_duration_ms": hls.segment_duration,
    }
    return {name: value for name, value in said.items() if value is not None}


def rtc(spec: RtcPlatform, providers: Mapping[str, RtcProvider], until: dt.datetime | None) -> ProgramRtc:
    provider = providers.get(spec.app_id)
    if provider is None:
        raise Refused("ProviderNotConfigured", f"no provider is configured for appId {spec.app_id}")
    if not provider.usable:
        raise Refused(
            "ProviderNotConfigured", f"the API key of the provider for appId {spec.app_id} is missing"
        )
    token = livekit_token(provider, spec.channel_id, spec.user_id, until) if until else SecretStr("")
    return ProgramRtc(
        provider=provider.type, url=provider.url, token=token, room=spec.channel_id, identity=spec.user_id
    )
