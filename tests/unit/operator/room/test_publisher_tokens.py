"""A destination in a room: which provider it names, and what its token admits to."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import jwt
import pytest
from tests.support.scenes import ROOT, layer, layout
from tests.support.worlds import NOW, SETTINGS, destination, on_air, pod, project

from onair_crds.contract.program import ProgramRoomServer, ProgramRtc
from onair_crds.contract.scene import ProgramLayout
from onair_crds.contract.times import format_time
from onair_crds.room_server.credentials import RoomServerCredentials
from onair_crds.shapes import Claims, Document
from onair_operator.destination.program_destinations import DestinationRefusal, program_destination
from onair_operator.encoder.program_push import digest
from onair_operator.project.observed import ObservedProject
from onair_operator.project.program import wanted_program
from onair_operator.room.plan import RoomServerAccess
from onair_operator.room.providers import RtcProvider
from onair_operator.scene.observed import ObservedScene

SECRET = "a secret that is known to nobody else"
PROVIDER = RtcProvider("livekit", "wss://rooms.example", "key", SECRET)
ROOM = {"rtcPlatform": {"appId": "studio", "channelId": "friday", "userId": "programme"}}


def world(status: Document | None = None, **providers: RtcProvider) -> ObservedProject:
    return ObservedProject(
        project=project(maxDuration=3_600_000, status={"broadcast": status or on_air()}),
        destinations=(destination(address=ROOM),),
        rtc_providers=providers,
    )


def program_rtc(observed: ObservedProject) -> ProgramRtc:
    assert observed.broadcast
    (wanted,) = wanted_program(observed, observed.broadcast, SETTINGS).destinations
    assert wanted.rtc
    return wanted.rtc


def claims(rtc: ProgramRtc, secret: str = SECRET, at: dt.datetime = NOW) -> Claims:
    token = rtc.token.get_secret_value()
    decoded: Claims = jwt.decode(token, secret, algorithms=["HS256"], options={"verify_exp": False})
    assert decoded["exp"] > at.timestamp()
    return decoded


def test_an_encoder_is_given_a_token_for_its_room_and_nothing_else() -> None:
    rtc = program_rtc(world(studio=PROVIDER))
    assert (rtc.url, rtc.room, rtc.identity) == ("wss://rooms.example", "friday", "programme")
    decoded = claims(rtc)
    assert (decoded["iss"], decoded["sub"]) == ("key", "programme")
    grant = decoded["video"]
    assert (grant["room"], grant["roomJoin"], grant["canPublish"]) == ("friday", True, True)
    others = ("canSubscribe", "canPublishData", "canUpdateOwnMetadata", "roomAdmin", "roomCreate", "roomList")
    assert not any(grant.get(right) for right in others)
    assert SECRET not in repr(PROVIDER)
    assert SECRET not in rtc.wire()


def test_the_token_outlives_the_run_and_is_the_same_while_the_run_is() -> None:
    before = program_rtc(world(on_air(start=None), studio=PROVIDER))
    observed = world(studio=PROVIDER)
    assert program_rtc(observed).token == before.token
    broadcast = observed.broadcast
    assert broadcast
    program = wanted_program(observed, broadcast, SETTINGS)
    assert digest(program) == digest(wanted_program(observed, broadcast, SETTINGS))
    assert program.stop_at
    claims(program_rtc(observed), at=dt.datetime.fromisoformat(program.stop_at))


HOURS_AGO = format_time(NOW - dt.timedelta(hours=5))


@pytest.mark.parametrize("scheduled", [NOW - dt.timedelta(seconds=40), None], ids=["its pod says", "unknown"])
def test_a_run_that_waited_for_a_node_for_hours_has_a_token_for_all_of_it(
    scheduled: dt.datetime | None,
) -> None:
    pods = (pod(scheduled=scheduled),)
    observed = replace(world(on_air(claimed=HOURS_AGO), studio=PROVIDER), pods=pods)
    assert observed.broadcast
    stop_at = wanted_program(observed, observed.broadcast, SETTINGS).stop_at
    assert stop_at
    rtc = program_rtc(observed)
    claims(rtc, at=dt.datetime.fromisoformat(stop_at))
    if scheduled:
        before = replace(world(on_air(claimed=HOURS_AGO, start=None), studio=PROVIDER), pods=pods)
        assert program_rtc(before).token == rtc.token, "the first frame changes nothing"


@pytest.mark.parametrize(
    ("providers", "message"),
    [
        ({}, "no provider is configured for appId studio"),
        ({"other": PROVIDER}, "no provider is configured for appId studio"),
        (
            {"studio": RtcProvider("livekit", "wss://rooms.example")},
            "the API key of the provider for appId studio is missing",
        ),
    ],
)
def test_a_provider_that_is_not_there_is_refused_with_a_sentence(
    providers: dict[str, RtcProvider], message: str
) -> None:
    observed = world(None, **providers)
    assert program_destination(observed.destinations[0], {}, observed.rtc_providers) == DestinationRefusal(
        "ProviderNotConfigured", message
    )


BOUND = RtcProvider(
    "livekit", "wss://rooms.example", "key", SECRET, frozenset({"news", "sport"}), "{serviceId}:"
)


@pytest.mark.parametrize(
    ("service", "channel", "reason"),
    [
        ("news", "news:friday", None),
        ("sport", "news:friday", "ChannelNotAllowed"),
        ("news", "friday", "ChannelNotAllowed"),
        ("news", "news:", "ChannelNotAllowed"),
        ("other", "other:friday", "ProviderNotAllowed"),
        ("", ":friday", "ProviderNotAllowed"),
    ],
)
def test_a_provider_can_be_bound_to_services_and_to_channels_of_their_own(
    service: str, channel: str, reason: str | None
) -> None:
    address = {"rtcPlatform": {"appId": "studio", "channelId": channel, "userId": "programme"}}
    known = destination("main", address=address)
    found = program_destination(known, {}, {"studio": BOUND}, None, service)
    assert (found.reason if isinstance(found, DestinationRefusal) else None) == reason


SERVER = RoomServerAccess("http://rooms.svc:7880", RoomServerCredentials("key", SECRET))
GUEST = layout(7, ROOT, layer("left", type="webrtc", data={"webrtc": {"id": "anna"}}))


def with_room(
    phase: str = "Open",
    scene: ProgramLayout = GUEST,
    server: RoomServerAccess | None = SERVER,
    **changes: Any,
) -> ObservedProject:
    room = {"opening": 1, "phase": phase, "since": "2026-11-27T12:00:00Z"}
    return ObservedProject(
        project=project(
            maxDuration=3_600_000,
            composition={"scene": {}},
            status={"broadcast": on_air(), "room": room},
        ),
        room_server=server,
        scene=ObservedScene((scene,)),
        **changes,
    )


def room_server_of(observed: ObservedProject) -> ProgramRoomServer | None:
    assert observed.broadcast
    return wanted_program(observed, observed.broadcast, SETTINGS).room_server


def test_an_encoder_can_watch_its_project_s_room_and_do_nothing_there() -> None:
    found = room_server_of(with_room())
    assert found
    assert found.url == "http://rooms.svc:7880"
    decoded: Claims = jwt.decode(
        found.token.get_secret_value(), SECRET, algorithms=["HS256"], options={"verify_exp": False}
    )
    assert (decoded["iss"], decoded["sub"]) == ("key", "renderer-1")
    assert decoded["video"] == {
        "room": with_room().project.uid,
        "roomJoin": True,
        "canPublish": False,
        "canPublishData": False,
        "canSubscribe": True,
        "canUpdateOwnMetadata": False,
        "hidden": True,
    }
    until = dt.datetime.fromtimestamp(decoded["exp"], dt.UTC)
    assert NOW < until < NOW + dt.timedelta(hours=3)


def test_it_is_the_same_token_for_as_long_as_the_run_lasts() -> None:
    assert room_server_of(with_room()) == room_server_of(with_room())


@pytest.mark.parametrize(
    "observed",
    [
        with_room(phase="Opening"),
        with_room(phase="Closing"),
        with_room(phase="Closed"),
        with_room(scene=layout(7)),
        with_room(server=None),
    ],
    ids=["opening", "closing", "closed", "nobody is shown", "no server is known"],
)
def test_there_is_none_where_nobody_can_be_joined(observed: ObservedProject) -> None:
    assert room_server_of(observed) is None
