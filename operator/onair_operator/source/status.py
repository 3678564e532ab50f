"""The status of a source, from what gateways say of its streams. Pure."""

from __future__ import annotations

import datetime as dt

from onair_crds.contract.ingest import AssignedPush, assigned_push, secret_name
from onair_crds.contract.ingest_gateway import stream_of_pull
from onair_crds.contract.times import format_time, parse_time
from onair_crds.resources.base import MAX_TEXT
from onair_crds.resources.enums import ConnectState
from onair_crds.resources.source import AssignedAddress, AssignedEndpoint, Source, SourceStatus
from onair_operator.ingest.assignment import puller_of
from onair_operator.ingest.observed import GatewayContact, GatewayView, Sighting
from onair_operator.settings import OperatorSettings
from onair_operator.source.admission import may_stay
from onair_operator.source.media import media_of, undecodable
from onair_operator.source.observe import ObservedSource

DISABLED = "the source is disabled"
SILENT = "it is connected, and sends no media"
NEVER = "never connected"
NO_INGEST = "this installation has no ingest server"
NO_KEY = "Secret {} holds no streamKey, or is not of the type onair.dev/credentials"
NO_ADDRESS = "no address to push to is known: "
WAITING = {True: "no publisher is connected", False: "it is not pulled yet"}
BROKEN = "it breaks a rule; correct {}"
UNREACHABLE = "the ingest server {} is unreachable"
NEXT_ATTEMPT = "; next attempt within {} s"
ENDED = {True: "the publisher closed the connection", False: "the server closed the connection"}
"""By whether it is pushed."""
CLOCK_TRUST = dt.timedelta(seconds=2)
"""How old a change may be by a gateway's clock: triggers wait from it, and a wrong one must end no show."""
CONNECTION = ("connect", "since", "last_error", "unknown", "media", "gateway", "stream", "replaced_key")
"""Fields of the status that say how the connection goes."""


def source_status(observed: ObservedSource, settings: OperatorSettings, now: dt.datetime) -> SourceStatus:
    """The next status; the present one as long as nothing is known, as after a restart of the operator."""
    source, before = observed.source, observed.source.status
    present = present_sighting(observed)
    ingest = settings.ingest.addresses(settings.release_namespace, observed.found)
    assigned = assigned_push(source.spec.address, None, ingest)
    # A process that has just become the leader has not looked yet.
    awaited = bool(settings.ingest.services) and observed.found is None
    connection = _connection(observed, present, now, _no_address(observed, assigned))
    if source.pushed is None:
        puller = puller_of(source.name, source.status.gateway, observed.gateways, observed.regions)
        connection["gateway"] = puller or connection.get("gateway")
    return SourceStatus(
        observed_generation=source.generation,
        conditions=before.conditions,
        type=source.type,
        address=_address(source, assigned, awaited=awaited),
        preview_participant_id=before.preview_participant_id,
        **connection,
    )


def cause_of(error: str) -> str:
    """The `lastError` of a pull without its next attempt."""
    return error.partition(NEXT_ATTEMPT.partition("{}")[0])[0]


def present_sighting(observed: ObservedSource) -> Sighting | None:
    """The publisher that is the source: one that sends, the newest key first, else the one that was it.

    Of two that come at once it is the one that sends for longer.
    """
    source, before = observed.source, observed.source.status
    found = [each for each in observed.sightings if each.online and may_stay(source, each.state)]

    def rank(each: Sighting) -> tuple[bool, bool, bool, dt.datetime, str]:
        former = each.state.stream not in (observed.key_stream, stream_of_pull(source.name))
        other = each.gateway.name != before.gateway
        return (not each.flowing, former, other, parse_time(each.state.since), each.gateway.name)

    return min(found, key=rank, default=None)


def _no_address(observed: ObservedSource, assigned: AssignedPush | None) -> str | None:
    """Why publishers outside of the cluster have no address to push to; None if they have one."""
    if assigned is None or assigned.base_url or observed.found is None:
        return None
    return NO_ADDRESS + (observed.found.missing or "no Service of ingest has a port for it")


def _connection(
    observed: ObservedSource, present: Sighting | None, now: dt.datetime, no_address: str | None
) -> dict[str, object]:
    """Fields of the status that say how the connection goes."""
    before = observed.source.status
    if present:
        return _connected(observed, present, now)
    may_have_it = _gateways_that_may_have_it(observed)
    awaited = any(each.contact is GatewayContact.AWAITED for each in may_have_it)
    if awaited and observed.source.enabled:
        return {name: getattr(before, name) for name in CONNECTION}
    ended = _ended(observed)
    told = ended.state.since if ended and not before.unknown else None
    # What an unreachable gateway has may still be there when it is back, and come back with its server.
    unreachable = any(each.contact is GatewayContact.UNREACHABLE for each in may_have_it)
    unknown = (unreachable or _ended_with_its_server(observed)) and observed.source.enabled
    return {
        "connect": ConnectState.DISCONNECTED,
        "since": _since(before, ConnectState.DISCONNECTED, told, now, unknown=unknown),
        "last_error": _why_not(observed, ended, no_address)[:MAX_TEXT],
        "unknown": unknown or None,
        "gateway": before.gateway if unknown else None,
        "stream": before.stream if unknown else None,
        "replaced_key": before.replaced_key if unknown else None,
    }


def _gateways_that_may_have_it(observed: ObservedSource) -> tuple[GatewayView, ...]:
    """The gateway that had the source; all of them if the settings do not name that one any more.

    Gateways are renamed with their publishers: these connect to whichever is there now.
    """
    before = observed.source.status.gateway
    if before is None:
        return ()
    gateway = observed.gateway(before)
    return (gateway,) if gateway else observed.gateways


def _connected(observed: ObservedSource, present: Sighting, now: dt.datetime) -> dict[str, object]:
    source, state = observed.source, present.state
    connect = ConnectState.CONNECTED if present.flowing else ConnectState.DISCONNECTED
    media = media_of(state, source.status.media) if present.flowing else None
    replaced = source.pushed is not None and state.stream != observed.key_stream
    return {
        "connect": connect,
        "since": _since(source.status, connect, state.since, now),
        "last_error": undecodable(media) if present.flowing else state.error or SILENT,
        "media": media,
        "gateway": present.gateway.name,
        "stream": state.stream,
        "replaced_key": replaced or None,
    }


def _since(
    before: SourceStatus, connect: ConnectState, told: str | None, now: dt.datetime, *, unknown: bool = False
) -> str | None:
    """When it changed: as the gateway says, unless its clock is wrong; None if it never was Connected."""
    # What was unknown has been so since it is known: who waits for it to last waits from then on.
    if connect is (before.connect or ConnectState.DISCONNECTED) and (not before.unknown or unknown):
        return before.since
    moment = parse_time(told) if told else now
    return format_time(moment if now - CLOCK_TRUST <= moment <= now else now)


def _ended(observed: ObservedSource) -> Sighting | None:
    """What a gateway says of the end of the stream that was connected, or of a pull that does not succeed."""
    before = observed.source.status
    ended = [each for each in observed.sightings if not each.state.online]
    return min(ended, key=lambda each: each.gateway.name != before.gateway, default=None)


def _ended_with_its_server(observed: ObservedSource) -> bool:
    """Whether nobody can say that the publisher is gone: its ingest server is, or is being stopped."""
    before = observed.source.status
    streams = (before.stream, stream_of_pull(observed.source.name))
    return any(
        each.state.unknown
        for each in observed.sightings
        if each.gateway.name == before.gateway and each.state.stream in streams
    )


def _why_not(observed: ObservedSource, ended: Sighting | None, no_address: str | None) -> str:
    source, before = observed.source, observed.source.status
    if not source.enabled:
        return DISABLED
    if observed.invalid:
        return BROKEN.format(observed.invalid)
    if not observed.gateways:
        return NO_INGEST
    no_key = NO_KEY.format(secret_name(source.name))
    if source.pushed and observed.has_secret and observed.key_stream is None:
        return no_key
    if no_address:
        return no_address
    gateway = observed.gateway(before.gateway)
    if before.gateway and (gateway is None or gateway.contact is GatewayContact.UNREACHABLE):
        return UNREACHABLE.format(before.gateway)
    if ended and (error := ended.state.error):
        next_s = ended.state.next_attempt_s
        return error if next_s is None else error + NEXT_ATTEMPT.format(next_s)
    if before.stream and not before.unknown:
        return ENDED[source.pushed is not None]
    if before.since is None:
        return NEVER
    passing = (None, DISABLED, NO_INGEST, no_key, UNREACHABLE.format(before.gateway))
    error = before.last_error and cause_of(before.last_error)
    begun = (NO_ADDRESS, BROKEN.partition("{}")[0])
    passed = before.unknown or error is None or error in passing or error.startswith(begun)
    return WAITING[source.pushed is not None] if passed else str(error)


def _address(source: Source, assigned: AssignedPush | None, *, awaited: bool) -> AssignedAddress | None:
    """Where it is pushed to; its Secret is made before this is written."""
    if assigned is None:
        return None
    before = source.status.address
    if awaited and before:
        return before
    endpoints = [
        AssignedEndpoint(protocol=each.protocol, region=each.region or None, base_url=each.base_url)
        for each in assigned.endpoints
    ]
    return AssignedAddress(
        base_url=assigned.base_url, endpoints=endpoints or None, secret_name=secret_name(source.name)
    )
