"""The status of a source follows what gateways say, and stays where they say nothing."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from tests.support.gateway_server import stream_state
from tests.support.sources import KEY_STREAM, gateway, observed_source, sighting, source
from tests.support.worlds import NOW, SETTINGS

from onair_crds.contract.ingest import FoundAddresses, IngestEndpoint
from onair_crds.resources.enums import ConnectState
from onair_crds.resources.source import AssignedAddress, SourceStatus
from onair_operator.ingest.observed import GatewayContact
from onair_operator.settings import IngestServiceSettings, IngestSettings
from onair_operator.source.observe import ObservedSource
from onair_operator.source.status import source_status

CONNECTED = {
    "connect": "Connected",
    "since": "2026-05-01T11:00:00.000Z",
    "gateway": "ingest-0",
    "stream": KEY_STREAM,
}


NOW_TEXT = "2026-05-01T12:00:00.000Z"


def status(observed: ObservedSource, now: dt.datetime = NOW) -> SourceStatus:
    return source_status(observed, SETTINGS, now)


def test_a_stream_that_flows_connects_its_source() -> None:
    since = "2026-05-01T11:59:59.500Z"
    now = status(observed_source(sightings=[sighting(stream_state(KEY_STREAM, since=since))]))
    assert (now.connect, now.since, now.last_error) == (ConnectState.CONNECTED, since, None)
    assert (now.gateway, now.stream, now.replaced_key) == ("ingest-0", KEY_STREAM, None)
    assert now.media
    assert now.media.summary == "H.264 1280×720@30, AAC 48 kHz stereo"


def test_a_source_that_nobody_ever_pushed_says_so() -> None:
    now = status(observed_source())
    assert (now.connect, now.since, now.last_error) == (ConnectState.DISCONNECTED, None, "never connected")
    assert (now.type, now.address and now.address.secret_name) == ("RtmpPush", "source-camera")
    assert status(observed_source(gateways=())).last_error == "this installation has no ingest server"


FINDING = SETTINGS.model_copy(
    update={"ingest": IngestSettings(services=[IngestServiceSettings(name="onair-ingest")])}
)


def test_that_no_address_is_known_is_told_until_one_is() -> None:
    nowhere = FoundAddresses(missing="there is no Service onair-ingest")
    now = source_status(observed_source(found=nowhere), FINDING, NOW)
    assert now.last_error == "no address to push to is known: there is no Service onair-ingest"
    assert now.address == AssignedAddress(secret_name="source-camera")
    rtmp = IngestEndpoint(protocol="rtmp", base_url="rtmp://192.0.2.7:1935/live")
    rtmps = IngestEndpoint(protocol="rtmps", region="eu", base_url="rtmps://192.0.2.7:1936/live")
    found = FoundAddresses(endpoints=[rtmp, rtmps])
    known = source_status(observed_source(status=now.manifest(), found=found), FINDING, NOW)
    assert known.last_error == "never connected"
    assert known.address
    assert known.address.base_url == rtmp.base_url
    assert [each.region for each in known.address.endpoints or []] == [None, "eu"]
    by_srt = observed_source(address={"srtPush": {}}, found=found)
    missing = "no address to push to is known: no Service of ingest has a port for it"
    assert source_status(by_srt, FINDING, NOW).last_error == missing


def test_a_new_leader_keeps_the_address_until_it_has_looked() -> None:
    before = {"address": {"baseUrl": "rtmp://192.0.2.7:1935/live", "secretName": "source-camera"}}
    now = source_status(observed_source(status=before, found=None), FINDING, NOW)
    assert now.address
    assert (now.address.base_url, now.last_error) == ("rtmp://192.0.2.7:1935/live", "never connected")


def test_a_source_that_is_connected_without_an_address_is_connected() -> None:
    """Such as by the name of the Service, within the cluster."""
    seen = observed_source(sightings=[sighting(stream_state(KEY_STREAM))], found=FoundAddresses())
    now = source_status(seen, FINDING, NOW)
    assert (now.connect, now.last_error) == (ConnectState.CONNECTED, None)


def test_a_secret_without_a_key_is_told() -> None:
    without = status(observed_source(key_stream=None))
    assert without.last_error
    assert "Secret source-camera holds no streamKey" in without.last_error
    assert status(observed_source(status=without.manifest())).last_error == "never connected"


def test_a_publisher_that_sends_nothing_is_disconnected() -> None:
    silent = stream_state(KEY_STREAM, flowing=False, since="2026-05-01T11:59:59.000Z")
    now = status(observed_source(status=CONNECTED, sightings=[sighting(silent)]))
    assert (now.connect, now.since) == (ConnectState.DISCONNECTED, "2026-05-01T11:59:59.000Z")
    assert now.last_error == "it is connected, and sends no media"
    assert (now.gateway, now.media) == ("ingest-0", None)


@pytest.mark.parametrize(
    ("sightings", "error"),
    [
        ([], "the publisher closed the connection"),
        ([sighting(stream_state(KEY_STREAM, online=False, error="time-out"))], "time-out"),
    ],
    ids=["forgotten", "told"],
)
def test_a_publisher_that_is_gone_leaves_its_cause(sightings: list[Any], error: str) -> None:
    observed = observed_source(status=CONNECTED, sightings=sightings)
    now = status(observed)
    assert (now.connect, now.last_error, now.gateway, now.stream) == ("Disconnected", error, None, None)
    again = status(observed_source(status=now.manifest(), sightings=sightings), NOW + dt.timedelta(hours=1))
    assert again == now, "nothing new is written later"


def test_states_stay_until_a_gateway_is_known_to_be_unreachable() -> None:
    silent = observed_source(status=CONNECTED, contact=GatewayContact.AWAITED)
    assert status(silent).manifest().items() >= CONNECTED.items()
    lost = status(observed_source(status=CONNECTED, contact=GatewayContact.UNREACHABLE))
    assert (lost.connect, lost.last_error) == ("Disconnected", "the ingest server ingest-0 is unreachable")
    assert (lost.unknown, lost.gateway, lost.stream) == (True, "ingest-0", KEY_STREAM)
    later = NOW + dt.timedelta(hours=1)
    still = observed_source(status=lost.manifest(), contact=GatewayContact.UNREACHABLE)
    assert status(still, later) == lost
    back = status(observed_source(status=lost.manifest()), later)
    assert (back.connect, back.last_error) == ("Disconnected", "no publisher is connected")
    assert (back.unknown, back.since) == (None, "2026-05-01T13:00:00.000Z"), "known since now"
    flows = status(observed_source(status=lost.manifest(), sightings=[sighting(stream_state(KEY_STREAM))]))
    assert (flows.connect, flows.unknown) == ("Connected", None)


def test_a_pull_whose_only_gateway_is_silent_stays_as_it_was_and_unknown() -> None:
    connected = {**CONNECTED, "stream": "pull-camera"}
    lost = status(silent_pull(connected))
    assert (lost.connect, lost.unknown) == ("Disconnected", True)
    assert (lost.gateway, lost.stream) == ("ingest-0", "pull-camera")
    assert status(silent_pull(lost.manifest()), NOW + dt.timedelta(seconds=10)) == lost


def silent_pull(before: dict[str, Any]) -> ObservedSource:
    relay = {"rtmpPull": {"url": "rtmp://media.example/a"}}
    silent = (gateway(contact=GatewayContact.UNREACHABLE),)
    return observed_source(address=relay, status=before, gateways=silent)


@pytest.mark.parametrize(
    ("address", "stream", "protocol"),
    [
        ({"rtmpPush": {}}, KEY_STREAM, "rtmp"),
        ({"rtmpPull": {"url": "rtmp://media.example/a"}}, "pull-camera", "pull"),
    ],
    ids=["pushed", "pulled"],
)
def test_a_publisher_that_ended_with_its_server_is_not_known_to_be_gone(
    address: dict[str, Any], stream: str, protocol: str
) -> None:
    """Nobody could come back yet: triggers wait."""
    before = {**CONNECTED, "stream": stream}
    told = stream_state(
        stream, online=False, flowing=False, unknown=True, error="the ingest server ended", since=NOW_TEXT
    )
    ended = observed_source(address=address, status=before, sightings=[sighting(told)])
    now = status(ended)
    assert (now.connect, now.since, now.unknown) == ("Disconnected", NOW_TEXT, True)
    assert (now.last_error, now.gateway, now.stream) == ("the ingest server ended", "ingest-0", stream)
    later = NOW + dt.timedelta(seconds=2)
    again = observed_source(address=address, status=now.manifest(), sightings=[sighting(told)])
    assert status(again, later) == now

    known = told.model_copy(update={"unknown": False})
    for back in ([], [sighting(known)]):
        restarted = observed_source(address=address, status=now.manifest(), sightings=back)
        gone = status(restarted, later)
        assert (gone.connect, gone.unknown, gone.stream) == ("Disconnected", None, None)
        assert gone.since == "2026-05-01T12:00:02.000Z", "who waits for it to last begins anew"
        assert gone.last_error != "the publisher closed the connection"
    flows = sighting(stream_state(stream, protocol=protocol), "ingest-1")
    elsewhere = observed_source(address=address, status=now.manifest(), sightings=[sighting(told), flows])
    moved = status(elsewhere, later)
    assert (moved.connect, moved.unknown, moved.stream) == ("Connected", None, stream)


def test_a_disabled_source_that_ended_with_its_server_is_known_to_be_disabled() -> None:
    told = stream_state(KEY_STREAM, online=False, flowing=False, unknown=True)
    disabled = {"rtmpPush": {"enabled": False}}
    now = status(observed_source(address=disabled, status=CONNECTED, sightings=[sighting(told)]))
    assert (now.connect, now.unknown, now.last_error) == ("Disconnected", None, "the source is disabled")


def test_a_gateway_that_is_not_there_any_more_has_nothing() -> None:
    now = status(observed_source(status={**CONNECTED, "gateway": "ingest-9"}))
    assert (now.connect, now.last_error) == ("Disconnected", "the ingest server ingest-9 is unreachable")


FORMER = {**CONNECTED, "gateway": "ingest-of-before"}
FORMER_UNKNOWN = {**FORMER, "connect": "Disconnected", "unknown": True}


@pytest.mark.parametrize("before", [FORMER, FORMER_UNKNOWN], ids=["connected", "unknown"])
def test_a_source_stays_as_it_was_until_all_that_may_have_it_have_told(before: dict[str, Any]) -> None:
    """Ingest pods are renamed, and their publishers come to whichever is there first."""
    awaited = status(observed_source(status=before, contact=GatewayContact.AWAITED))
    assert awaited.manifest().items() >= before.items()

    silent = status(observed_source(status=before, contact=GatewayContact.UNREACHABLE))
    assert (silent.connect, silent.unknown, silent.gateway) == ("Disconnected", True, "ingest-of-before")
    assert silent.stream == KEY_STREAM

    told = status(observed_source(status=before))
    assert (told.connect, told.unknown, told.gateway, told.since) == ("Disconnected", None, None, NOW_TEXT)
    later = NOW + dt.timedelta(hours=1)
    assert status(observed_source(status=silent.manifest()), later).since == "2026-05-01T13:00:00.000Z"

    nothing = status(observed_source(status=before, gateways=()))
    assert (nothing.unknown, nothing.last_error) == (None, "this installation has no ingest server")


@pytest.mark.parametrize("contact", [GatewayContact.AWAITED, GatewayContact.UNREACHABLE])
def test_a_pull_remembers_a_gateway_of_before_while_no_other_can_take_it(contact: GatewayContact) -> None:
    before = {**FORMER, "stream": "pull-camera"}
    now = status(observed_source(address=RELAY, status=before, gateways=(gateway(contact=contact),)))
    assert (now.gateway, now.stream) == ("ingest-of-before", "pull-camera")
    assert (now.connect is ConnectState.CONNECTED, now.unknown) in ((True, None), (False, True))
    taken = status(observed_source(address=RELAY, status=now.manifest()))
    assert taken.gateway in ("ingest-0", "ingest-1")


def test_what_an_unreachable_gateway_said_last_counts_for_nothing() -> None:
    seen = sighting(stream_state(KEY_STREAM), contact=GatewayContact.UNREACHABLE)
    now = status(observed_source(status=CONNECTED, sightings=[seen], contact=GatewayContact.UNREACHABLE))
    assert now.connect is ConnectState.DISCONNECTED


def test_of_two_gateways_that_claim_a_stream_the_one_that_had_it_counts() -> None:
    both = [sighting(stream_state(KEY_STREAM), name) for name in ("ingest-0", "ingest-1")]
    assert status(observed_source(sightings=both)).gateway == "ingest-0"
    longer = sighting(stream_state(KEY_STREAM, since="2026-05-01T11:59:59.999Z"), "ingest-1")
    assert status(observed_source(sightings=[both[0], longer])).gateway == "ingest-1"
    had = observed_source(status={**CONNECTED, "gateway": "ingest-1"}, sightings=both)
    assert status(had).gateway == "ingest-1"
    silent = sighting(stream_state(KEY_STREAM, flowing=False), "ingest-1")
    assert (
        status(observed_source(status=had.source.status.manifest(), sightings=[both[0], silent])).gateway
        == "ingest-0"
    )


def test_a_replaced_key_stays_connected_until_the_new_one_sends() -> None:
    old = sighting(stream_state("former"))
    now = status(observed_source(status={**CONNECTED, "stream": "former"}, sightings=[old]))
    assert (now.connect, now.stream, now.replaced_key) == ("Connected", "former", True)
    both = status(observed_source(status=now.manifest(), sightings=[old, sighting(stream_state(KEY_STREAM))]))
    assert (both.connect, both.stream, both.replaced_key) == ("Connected", KEY_STREAM, None)


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ({"rtmpPush": {"enabled": False}}, "the source is disabled"),
        ({"srtPush": {}}, "the publisher closed the connection"),
    ],
    ids=["disabled", "of another protocol"],
)
def test_a_publisher_that_may_not_stay_is_not_the_source(address: Any, error: str) -> None:
    now = status(
        observed_source(status=CONNECTED, address=address, sightings=[sighting(stream_state(KEY_STREAM))])
    )
    assert (now.connect, now.last_error) == ("Disconnected", error)


def test_a_disabled_source_is_disconnected_though_its_gateway_is_awaited() -> None:
    observed = observed_source(
        status=CONNECTED, address={"rtmpPush": {"enabled": False}}, contact=GatewayContact.AWAITED
    )
    assert status(observed).connect is ConnectState.DISCONNECTED


@pytest.mark.parametrize("told", ["2031-01-01T00:00:00Z", "1999-01-01T00:00:00Z"])
def test_a_clock_that_is_wrong_moves_no_change(told: str) -> None:
    now = status(
        observed_source(
            status={"connect": "Disconnected", "since": "2026-05-01T11:30:00.000Z"},
            sightings=[sighting(stream_state(KEY_STREAM, since=told))],
        )
    )
    assert now.since == "2026-05-01T12:00:00.000Z"


def test_what_is_said_of_a_source_is_bounded_and_holds_no_key() -> None:
    ended = sighting(stream_state(KEY_STREAM, online=False, error="x" * 1024))
    now = status(observed_source(status=CONNECTED, sightings=[ended]))
    assert now.last_error
    assert len(now.last_error) <= 1024
    assert source().name == "camera"


RELAY = {"rtmpPull": {"url": "rtmp://media.example/live/secret"}}


def test_a_pulled_source_names_the_gateway_that_pulls_it_and_why_it_does_not_succeed() -> None:
    assigned = status(observed_source(address=RELAY))
    assert assigned.gateway in ("ingest-0", "ingest-1")
    assert (assigned.connect, assigned.type, assigned.address) == ("Disconnected", "RtmpPull", None)
    refused = stream_state(
        "pull-camera", protocol="pull", online=False, error="connection refused", next_attempt_s=4
    )
    now = status(
        observed_source(
            address=RELAY, status=assigned.manifest(), sightings=[sighting(refused, assigned.gateway)]
        )
    )
    assert now.last_error == "connection refused; next attempt within 4 s"
    pulled = sighting(stream_state("pull-camera", protocol="pull"), assigned.gateway)
    flows = status(observed_source(address=RELAY, status=now.manifest(), sightings=[pulled]))
    assert (flows.connect, flows.stream, flows.replaced_key) == ("Connected", "pull-camera", None)


def test_a_next_attempt_of_which_no_gateway_knows_is_not_said() -> None:
    before = {"connect": "Disconnected", "since": CONNECTED["since"]}
    error = {"lastError": "connection refused; next attempt within 4 s"}
    assert status(observed_source(address=RELAY, status=before | error)).last_error == "connection refused"
