"""Sources become their collection's, get a key, and their state is written and told when it changes."""

from __future__ import annotations

import pytest
from tests.support.gateway_server import stream_state
from tests.support.sources import KEY_STREAM, observed_source, sighting, source
from tests.support.worlds import NOW, SETTINGS, collection

from onair_crds.contract.ingest_gateway import StreamState
from onair_crds.contract.owners import TRACKING_ANNOTATION, owner_reference
from onair_crds.resources.collection import Collection
from onair_crds.resources.enums import ConnectState
from onair_crds.resources.source import Source
from onair_crds.shapes import Document
from onair_operator.cluster.actions import Action, Adopt, CreateStreamKey, Disown, ResourceEvent, WriteStatus
from onair_operator.source.observe import ObservedSource
from onair_operator.source.plan import make_plan

TRACKED = {TRACKING_ANNOTATION: "shows:onair.dev/Source:shows/camera"}
RELAY = {"rtmpPull": {"url": "rtmp://203.0.113.9/live/secret"}}
DELETING: Document = {"deletionTimestamp": "2026-05-01T12:00:00Z"}


def plan(observed: ObservedSource) -> list[Action]:
    return make_plan(observed, NOW, SETTINGS)


def events(observed: ObservedSource) -> list[tuple[str, str]]:
    return [(each.reason, each.message) for each in plan(observed) if isinstance(each, ResourceEvent)]


def settled(observed: ObservedSource) -> ObservedSource:
    """The source with the status that the plan writes."""
    status = next(each.status for each in plan(observed) if isinstance(each, WriteStatus))
    changed = observed.source.model_copy(update={"status": status})
    return ObservedSource(**{**vars(observed), "source": changed})


def test_a_source_is_given_to_its_collection() -> None:
    observed = ObservedSource(source(), collection())
    assert Adopt(observed.source, collection()) in plan(observed)


def test_a_source_that_argo_cd_manages_is_given_to_nobody() -> None:
    owners = [owner_reference("Collection", "sunday", "uid-sunday")]
    adopted = ObservedSource(source(annotations=TRACKED, ownerReferences=owners), collection())
    assert Disown(adopted.source) in plan(adopted)
    free = ObservedSource(source(annotations=TRACKED, ownerReferences=[]), collection())
    assert not [each for each in plan(free) if isinstance(each, Adopt | Disown)]


@pytest.mark.parametrize(
    ("its_source", "its_collection"),
    [
        (source(ownerReferences=[{"uid": "uid-sunday"}]), collection()),
        (source(), None),
        (source(), collection(**DELETING)),
        (source(**DELETING), collection()),
    ],
    ids=["owned", "without a collection", "collection under deletion", "source under deletion"],
)
def test_a_source_is_left_where_it_is(its_source: Source, its_collection: Collection | None) -> None:
    assert not [each for each in plan(ObservedSource(its_source, its_collection)) if isinstance(each, Adopt)]


def test_a_source_under_deletion_is_left_alone() -> None:
    assert plan(observed_source(source=source(**DELETING), has_secret=False)) == []


def test_a_pushed_source_without_a_key_gets_one() -> None:
    without = observed_source(has_secret=False, key_stream=None)
    assert CreateStreamKey(without.source) in plan(without)
    pulled = observed_source(address={"rtmpPull": {"url": "rtmp://media.example/live/a"}}, has_secret=False)
    assert not [each for each in plan(pulled) if isinstance(each, CreateStreamKey)]


def test_a_world_that_does_not_change_gives_an_empty_plan() -> None:
    for sightings in ([], [sighting(stream_state(KEY_STREAM))]):
        assert plan(settled(observed_source(sightings=sightings))) == []


def test_a_connection_is_told_with_what_arrives_and_its_end_with_the_cause() -> None:
    flows = observed_source(sightings=[sighting(stream_state(KEY_STREAM))])
    assert events(flows) == [
        ("SourceConnected", "RTMP publisher from 198.51.100.7: H.264 1280×720@30, AAC 48 kHz stereo")
    ]
    ended = ObservedSource(**{**vars(settled(flows)), "sightings": ()})
    assert events(ended) == [("SourceDisconnected", "the publisher closed the connection")]


def test_media_that_no_page_can_decode_are_told_with_the_connection_and_once() -> None:
    h265 = stream_state(KEY_STREAM, video={"codec": "H265"})
    connected = observed_source(sightings=[sighting(h265)])
    reason = "pages cannot show its H.265 video; send H.264"
    assert events(connected) == [
        ("SourceConnected", "RTMP publisher from 198.51.100.7: H.265, AAC 48 kHz stereo"),
        ("NotDecodable", reason),
    ]
    known = settled(connected)
    assert (known.source.status.connect, known.source.status.last_error) == (ConnectState.CONNECTED, reason)
    assert plan(known) == []
    other = ObservedSource(**{**vars(known), "sightings": (sighting(stream_state(KEY_STREAM)),)})
    assert events(other) == [("MediaChanged", "H.264 1280×720@30, AAC 48 kHz stereo")]
    assert settled(other).source.status.last_error is None
    gone = ObservedSource(**{**vars(known), "sightings": ()})
    assert events(gone) == [("SourceDisconnected", "the publisher closed the connection")]


def test_the_profile_of_a_video_is_told() -> None:
    video = {"codec": "H264", "profile": "High", "width": 1280, "height": 720}
    flows = observed_source(sightings=[sighting(stream_state(KEY_STREAM, video=video))])
    ((_, message),) = events(flows)
    assert message == "RTMP publisher from 198.51.100.7: H.264 High 1280×720, AAC 48 kHz stereo"
    measured = sighting(stream_state(KEY_STREAM, video={**video, "framerate": 30.0}))
    changed = ObservedSource(**{**vars(settled(flows)), "sightings": (measured,)})
    assert events(changed) == [("MediaChanged", "H.264 High 1280×720@30, AAC 48 kHz stereo")]


def test_a_pull_that_fails_again_and_again_is_told_once() -> None:
    cause = "203.0.113.9:1935 refused the connection"

    def failed(next_attempt_s: int) -> StreamState:
        return stream_state(
            "pull-camera", protocol="pull", online=False, error=cause, next_attempt_s=next_attempt_s
        )

    first = observed_source(address=RELAY, sightings=[sighting(failed(1))])
    assert events(first) == [("NotConnected", cause)]
    again = ObservedSource(**{**vars(settled(first)), "sightings": (sighting(failed(2)),)})
    assert events(again) == []
    assert settled(again).source.status.last_error == f"{cause}; next attempt within 2 s"


def test_media_that_change_are_told() -> None:
    flows = settled(observed_source(sightings=[sighting(stream_state(KEY_STREAM, video=None, audio=None))]))
    known = ObservedSource(**{**vars(flows), "sightings": (sighting(stream_state(KEY_STREAM)),)})
    assert events(known) == [("MediaChanged", "H.264 1280×720@30, AAC 48 kHz stereo")]


def test_a_key_that_was_replaced_is_told_while_it_is_connected() -> None:
    flows = settled(observed_source(sightings=[sighting(stream_state(KEY_STREAM))]))
    replaced = ObservedSource(**{**vars(flows), "key_stream": "another"})
    assert events(replaced) == [
        ("KeyReplaced", "it stays connected with its former key until it disconnects")
    ]
