"""Which destinations of a project its encoder is to deliver to, and why not to the others. Pure."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from pydantic import SecretStr

from onair_crds.contract.program import KeptDestination, ProgramDestination
from onair_crds.resources.destination import Destination
from onair_crds.resources.enums import BroadcastPhase
from onair_crds.resources.project import BroadcastStatus
from onair_operator.destination.program import KEPT_REASONS, Refusal, program_destination
from onair_operator.project.observed import ObservedProject

Deliveries = Mapping[str, ProgramDestination | Refusal]
"""By the name of the destination; a disabled one is as it would be."""


def deliveries(observed: ObservedProject, rooms_until: dt.datetime | None = None) -> Deliveries:
    """Each destination as the encoder is to see it, or why it cannot be.

    Of several that would publish as one, the oldest does: a server takes one publisher, so that they
    would end each other's streams in turns.
    """
    found: dict[str, ProgramDestination | Refusal] = {}
    first: dict[tuple[str, ...], str] = {}
    for destination in sorted(observed.destinations, key=_age):
        program = _program(destination, observed, rooms_until)
        if (
            isinstance(program, ProgramDestination)
            and wanted(destination)
            and (stream := _stream_of(program))
        ):
            other = first.setdefault(stream, destination.name)
            if other != destination.name:
                program = Refusal(
                    "DuplicateDestination",
                    f"destination {other} delivers to the same address with the same key, and a server"
                    " takes one stream of it; give this one a key of its own, or disable one",
                )
        found[destination.name] = program
    return found


def wanted(destination: Destination) -> bool:
    return destination.spec.enabled and not destination.deleting


def kept_destinations(observed: ObservedProject, found: Deliveries) -> list[KeptDestination]:
    """Those whose Secret is gone, with which an encoder that has it goes on."""
    return [
        KeptDestination(id=each.name, generation=each.generation)
        for each in sorted(observed.destinations, key=lambda d: d.name)
        if wanted(each) and isinstance(known := found[each.name], Refusal) and known.reason in KEPT_REASONS
    ]


def streams_on_air(observed: ObservedProject, broadcast: BroadcastStatus | None) -> dict[str, str]:
    """Fingerprints of the streams that the destinations publish while the show is on air, by destination."""
    if broadcast is None or broadcast.phase not in (BroadcastPhase.STARTING, BroadcastPhase.RUNNING):
        return {}
    found = deliveries(observed)
    streams = {
        each.name: _stream_of(program)
        for each in observed.destinations
        if wanted(each) and isinstance(program := found[each.name], ProgramDestination)
    }
    return {name: _fingerprint(stream) for name, stream in streams.items() if stream}


def _fingerprint(stream: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(stream).encode()).hexdigest()


def _program(
    destination: Destination, observed: ObservedProject, rooms_until: dt.datetime | None
) -> ProgramDestination | Refusal:
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
        return Refusal("InvalidAddress", "the address or a value of its Secrets cannot be read; correct it")


def _age(destination: Destination) -> tuple[str, str]:
    return str(destination.metadata.get("creationTimestamp", "")), destination.name


def _stream_of(program: ProgramDestination) -> tuple[str, ...] | None:
    """What a server knows the stream by; None for storage, whose encoder guards its prefixes itself."""
    if program.rtc:
        return program.rtc.url, program.rtc.room, program.rtc.identity
    if program.storage:
        return None
    key = _text(program.key)
    try:
        address = urlsplit(program.url)
    except ValueError:  # as of brackets without an IPv6 address: the encoder says what is wrong with it
        return program.url, key
    server = f"{address.scheme.lower()}://{address.netloc.lower()}"
    if program.type == "SRT":
        return server, parse_qs(address.query).get("streamid", [key])[0]
    path = "/".join(part for part in (address.path.strip("/"), key) if part)
    return server, path, address.query


def _text(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""
