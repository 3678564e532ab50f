"""Which destinations the encoder is given, and what the others are told."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.plans import destination_statuses, plan
from tests.support.worlds import delivering, destination, encoder, held, on_air, pod, project, secret, world

from onair_crds.contract.program import KeptDestination, Program, ProgramDestination
from onair_crds.resources.destination import Destination, DestinationStatus
from onair_operator.cluster.actions import PushProgram
from onair_operator.destination import program_destinations as destination_program
from onair_operator.destination.program_destinations import DestinationRefusal, program_destination
from onair_operator.project.deliveries import streams_on_air
from onair_operator.project.observed import ObservedProject
from onair_operator.room.providers import RtcProvider

KEY_REF = {"name": "key", "key": "streamKey"}


def show(*destinations: Destination, **extra: Any) -> ObservedProject:
    return world(
        project(status={"broadcast": on_air()}, metadata=held()),
        pods=[pod()],
        destinations=destinations,
        **{"encoders": [encoder()], **extra},
    )


def pushed(observed: ObservedProject) -> Program:
    (push,) = [action for action in plan(observed) if isinstance(action, PushProgram)]
    return push.program


def to(name: str, url: str, created: str = "2026-05-01T00:00:00Z", **address: Any) -> Destination:
    known = destination(name, address={"rtmpPush": {"url": url, **address}})
    return known.model_copy(update={"metadata": {**known.metadata, "creationTimestamp": created}})


def told(observed: ObservedProject, name: str) -> DestinationStatus:
    return destination_statuses(observed)[name]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("rtmp://a.example/live/k", {}), ("rtmp://A.example/live/", {"keySecretRef": KEY_REF})),
        (("rtmp://a.example/live", {"keySecretRef": KEY_REF}), ("rtmp://a.example/live/k", {})),
        (("srt://a.example:9000?streamid=k", {}), ("srt://a.example:9000", {"keySecretRef": KEY_REF})),
        (("srt://a.example:9000?streamid=k&latency=200", {}), ("srt://a.example:9000?streamid=k", {})),
        (("srt://a.example:9000?streamid=k", {}), ("srt://A.example:9000?StreamId=k", {})),
        (("rtmp://a.example/live/k", {}), ("rtmp://a.example:1935/live/k", {})),
    ],
)
def test_of_two_that_a_server_takes_for_one_the_older_delivers_and_the_other_is_told(
    first: tuple[str, Any], second: tuple[str, Any]
) -> None:
    older = to("zoe", first[0], **first[1])
    newer = to("adam", second[0], "2026-05-02T00:00:00Z", **second[1])
    observed = show(newer, older, secrets=[secret("key", streamKey="k")])
    assert [each.id for each in pushed(observed).destinations] == ["zoe"]
    status = told(observed, "adam")
    assert (status.conditions[0].status, status.conditions[0].reason) == ("False", "DuplicateDestination")
    assert status.last_error
    assert status.last_error.startswith("destination zoe delivers to the same address with the same key")
    assert told(observed, "zoe").conditions[0].reason != "DuplicateDestination"


@pytest.mark.parametrize(
    "other",
    [
        to("b", "rtmp://a.example/live/other"),
        to("b", "rtmp://b.example/live/k"),
        to("b", "rtmp://a.example:1936/live/k"),
        destination("b", enabled=False, address={"rtmpPush": {"url": "rtmp://a.example/live/k"}}),
    ],
)
def test_others_are_no_duplicates(other: Destination) -> None:
    observed = show(to("a", "rtmp://a.example/live/k"), other)
    assert told(observed, "b").conditions[0].reason != "DuplicateDestination"
    assert pushed(observed).destinations[0].id == "a"


@pytest.mark.parametrize("name", ["streamid", "StreamId"])
def test_stream_ids_that_begin_with_a_hash_are_told_apart(name: str) -> None:
    urls = [f"srt://a.example:9000?{name}=#!::m=publish,r={each}" for each in ("one", "two")]
    observed = show(to("a", urls[0]), to("b", urls[1]))
    assert [each.id for each in pushed(observed).destinations] == ["a", "b"]
    assert len(set(streams_on_air(observed, observed.broadcast).values())) == 2


def test_addresses_that_no_encoder_takes_are_no_duplicates() -> None:
    url = "srt://a.example:9000?streamid=k&latency=soon"
    observed = show(to("a", url), to("b", "srt://a.example:9000?streamid=k"), to("c", url))
    assert [each.id for each in pushed(observed).destinations] == ["a", "b", "c"]


def test_two_of_one_identity_in_a_room_are_told() -> None:
    address = {"rtcPlatform": {"appId": "app", "channelId": "room", "userId": "programme"}}
    provider = RtcProvider("livekit", "wss://rooms.example", "key", "s" * 32)
    observed = show(
        destination("a", address=address), destination("b", address=address), rtc_providers={"app": provider}
    )
    assert told(observed, "b").conditions[0].reason == "DuplicateDestination"


def test_a_destination_whose_secret_is_gone_goes_on_with_what_the_encoder_has() -> None:
    known = to("main", "rtmp://a.example/live", keySecretRef=KEY_REF)
    observed = show(known, encoders=[encoder(destinations=[delivering("main")])])
    program = pushed(observed)
    assert program.destinations == []
    assert program.kept == [KeptDestination(id="main", generation=1, uid="uid-main")]
    status = told(observed, "main")
    assert status.connect == "Connected"
    assert (status.conditions[0].status, status.conditions[0].reason) == ("False", "SecretNotFound")
    assert status.last_error == "Secret key does not exist; the encoder continues with what it has"


def test_an_encoder_that_never_had_the_secret_cannot_go_on() -> None:
    observed = show(to("main", "rtmp://a.example/live", keySecretRef=KEY_REF))
    status = told(observed, "main")
    assert (status.connect, status.last_error) == ("Disconnected", "Secret key does not exist")


def test_a_secret_that_may_not_be_used_is_not_kept() -> None:
    known = to("main", "rtmp://a.example/live", keySecretRef=KEY_REF)
    observed = show(
        known,
        secrets=[secret("key", "Opaque", streamKey="k")],
        encoders=[encoder(destinations=[delivering("main")])],
    )
    assert pushed(observed).kept == []
    assert told(observed, "main").connect == "Disconnected"


@pytest.mark.parametrize("url", ["rtmp://live.example.com：1935/app", "rtmp://[abc]/app"])
def test_a_url_that_cannot_be_split_breaks_no_other_destination(url: str) -> None:
    observed = show(to("a", "rtmp://a.example/live/k"), to("b", url))
    assert "a" in [each.id for each in pushed(observed).destinations]


def test_a_destination_that_cannot_be_read_is_refused_and_the_others_are_delivered_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(of: Destination, *known: Any) -> ProgramDestination | DestinationRefusal:
        if of.name == "b":
            raise ValueError("no such address")
        return program_destination(of, *known)

    monkeypatch.setattr(destination_program, "program_destination", read)
    observed = show(to("a", "rtmp://a.example/live/k"), to("b", "rtmp://b.example/live/k"))
    assert [each.id for each in pushed(observed).destinations] == ["a"]
    assert told(observed, "b").conditions[0].reason == "InvalidAddress"
