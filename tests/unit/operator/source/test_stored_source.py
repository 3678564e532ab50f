"""A source that is stored against the rules of this version is told so, and its connections are decided."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.documents import document
from tests.support.gateway_server import stream_state
from tests.support.sources import KEY_STREAM, observed_source, sighting
from tests.support.worlds import NOW, SETTINGS

from onair_crds.kube.store import Entry
from onair_crds.resources.enums import ConnectState
from onair_crds.resources.source import Source
from onair_crds.shapes import Document
from onair_operator.cluster.actions import CutOff, WriteStatus
from onair_operator.ingest.observed import GatewayContact
from onair_operator.source.events import source_events
from onair_operator.source.plan import make_plan
from onair_operator.source.status import source_status
from onair_operator.source.stored_source import read_source
from onair_operator.stream.observe import ObservedStream
from onair_operator.stream.plan import make_plan as make_plan_of_stream

PULL_WITH_PASSWORD = {"address": {"rtmpPull": {"url": "rtmp://anna:hidden@media.example/live"}}}
NEWER = {"connect": "Reconnecting", "since": "2026-05-01T10:00:00.000Z"}
WAS_CONNECTED: Document = {
    "type": "RtmpPull",
    "connect": "Connected",
    "since": "2026-05-01T10:00:00.000Z",
    "gateway": "ingest-0",
    "stream": "pull/camera",
}


def entry(spec: Any, status: Document | None = None) -> Entry:
    given = {"collectionId": "sunday", **spec} if isinstance(spec, dict) else spec
    return Entry("Source", {**document("camera", given, generation=2), "status": status or {}})


def test_a_pull_that_breaks_a_rule_is_disconnected_and_says_which() -> None:
    source, invalid = read_source(entry(PULL_WITH_PASSWORD, WAS_CONNECTED))
    assert invalid
    assert "spec.address.rtmpPull.url" in invalid
    observed = observed_source(source=source, invalid=invalid)
    status = source_status(observed, SETTINGS, NOW)
    assert (status.type, status.connect, status.unknown) == ("RtmpPull", ConnectState.DISCONNECTED, None)
    assert status.last_error == f"it breaks a rule; correct {invalid}"
    assert "hidden" not in status.model_dump_json()
    (write,) = (each for each in make_plan(observed, NOW, SETTINGS) if isinstance(each, WriteStatus))
    assert (write.resource.kind, write.resource.name) == ("Source", "camera")
    assert list(source_events(source, status, None))


def test_once_it_is_corrected_it_is_not_told_any_more() -> None:
    wrong = {**WAS_CONNECTED, "connect": "Disconnected", "lastError": "it breaks a rule; correct it"}
    source, invalid = read_source(
        entry({"address": {"rtmpPull": {"url": "rtmp://media.example/live"}}}, wrong)
    )
    assert invalid is None
    observed = observed_source(source=source)
    assert "breaks a rule" not in str(source_status(observed, SETTINGS, NOW).last_error)


@pytest.mark.parametrize("is_enabled", [True, False])
def test_a_push_that_breaks_a_rule_keeps_its_publisher_unless_it_is_disabled(is_enabled: bool) -> None:
    too_long = {"webrtc": {"displayName": 300 * "x"}}
    spec = {"address": {"rtmpPush": {"enabled": is_enabled}}, "preview": too_long}
    source, invalid = read_source(entry(spec))
    assert invalid
    assert (source.enabled, source.type) == (is_enabled, "RtmpPush")
    here = sighting(stream_state(KEY_STREAM))
    ended = make_plan_of_stream(ObservedStream(KEY_STREAM, source, (here,)), NOW, SETTINGS)
    assert any(isinstance(each, CutOff) for each in ended) is not is_enabled
    observed = observed_source(source=source, invalid=invalid, sightings=[here])
    assert (source_status(observed, SETTINGS, NOW).connect == "Connected") is is_enabled


@pytest.mark.parametrize("status", [NEWER, {**WAS_CONNECTED, "media": {"summary": 7}}])
def test_a_status_of_a_newer_operator_breaks_no_rule(status: Document) -> None:
    source, invalid = read_source(entry({"address": {"rtmpPush": {}}}, status))
    assert invalid is None
    here = sighting(stream_state(KEY_STREAM))
    assert (
        source_status(observed_source(source=source, sightings=[here]), SETTINGS, NOW).connect == "Connected"
    )


def test_where_a_source_is_stays_known_until_its_gateway_reports() -> None:
    newer = {**WAS_CONNECTED, "media": {"summary": 7}, "stream": KEY_STREAM}
    source, _ = read_source(entry({"address": {"rtmpPush": {}}}, newer))
    status = source_status(observed_source(source=source, contact=GatewayContact.AWAITED), SETTINGS, NOW)
    assert (status.connect, status.gateway, status.stream) == ("Connected", "ingest-0", KEY_STREAM)
    source, _ = read_source(entry({"address": {"rtmpPush": {}}}, {**newer, "connect": "Reconnecting"}))
    status = source_status(observed_source(source=source, contact=GatewayContact.AWAITED), SETTINGS, NOW)
    assert (status.unknown, status.gateway, status.stream) == (True, "ingest-0", KEY_STREAM)


@pytest.mark.parametrize("spec", [None, {}, {"address": "somewhere"}, {"address": {}}, {"collectionId": 7}])
def test_whatever_is_stored_is_read(spec: Any) -> None:
    source, invalid = read_source(entry(spec, NEWER))
    assert isinstance(source, Source)
    assert invalid
    make_plan(observed_source(source=source, invalid=invalid), NOW, SETTINGS)
