"""Events of layouts that change over HTTP: with the request's animations, batches as batches."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.event_client import WebSocket, events_of
from tests.support.facade import FacadeThread, User
from tests.support.fixtures import doors
from tests.support.layouts import LayoutClient, layout

from onair_crds.shapes import JsonObject

door, pytest_generate_tests = doors.door, doors.pytest_generate_tests

LAYOUT = "apistream:layout:EVENT_TYPE_{}:EVENT_SUB_TYPE_{}"
WHY: JsonObject = {"requestMetadata": {"why": "drag"}}
ANIMATION = [{"properties": ["x"], "durationMs": 300}]


class LayoutStage:
    """A layout, and a stream of its events on the other replica."""

    def __init__(self, canvas: LayoutClient, stream: WebSocket) -> None:
        self.canvas, self.stream = canvas, stream

    def next(self, type_: str, sub_type: str) -> JsonObject:
        (result,) = events_of(self.stream, 1)
        assert result["event"]["name"] == LAYOUT.format(type_, sub_type)
        return result["event"]["payload"][type_.lower()][sub_type.lower()]  # type: ignore[no-any-return]


@pytest.fixture
def stage(host: User, two: FacadeThread) -> Iterator[LayoutStage]:
    show = host.project()
    with WebSocket(two, host.token) as stream:
        stream.subscribe("*:layout:*", projectId=show.id)
        stage = LayoutStage(layout(show), stream)
        assert stage.next("LAYOUT", "CREATE")["id"] == stage.canvas.id
        yield stage


def test_one_layer_at_a_time(stage: LayoutStage) -> None:
    made = stage.canvas.add(x=1, **WHY)
    assert stage.next("LAYER", "CREATE") == made
    changed = stage.canvas.patch(made["id"], x=5, requestAnimation=ANIMATION, **WHY)
    event = stage.next("LAYER", "UPDATE")
    assert event == changed
    assert event["requestAnimation"][0]["durationMs"] == 300
    plain = stage.canvas.patch(made["id"], x=6)
    assert stage.next("LAYER", "UPDATE") == {**plain, "requestMetadata": {}}
    deleted = stage.canvas.delete(made["id"], WHY)
    assert stage.next("LAYER", "DELETE") == deleted


def test_a_batch_is_one_event(stage: LayoutStage) -> None:
    items = [{"create": {"type": "square"}}, {"create": {"type": "text", "parentId": "index:0"}}]
    response = stage.canvas.batch(*items, requestAnimationMode="REQUEST_ANIMATION_MODE_SERIES", **WHY)
    event = stage.next("LAYER", "BATCH")
    assert event["requestAnimationMode"] == "REQUEST_ANIMATION_MODE_SERIES"
    assert event["requestMetadata"] == {"why": "drag"}
    assert [i["create"]["id"] for i in event["layers"]] == [i["create"]["id"] for i in response["layers"]]
    stage.stream.assert_silent()


def test_the_layout_itself(stage: LayoutStage, host: User) -> None:
    changed = host.ok("PATCH", stage.canvas.path, {"width": 640, **WHY})
    assert stage.next("LAYOUT", "UPDATE") == changed
    host.ok("DELETE", stage.canvas.path, WHY)
    assert stage.next("LAYOUT", "DELETE") == {"id": stage.canvas.id, **WHY}


def test_events_of_a_drag_come_in_the_order_of_its_commits(stage: LayoutStage) -> None:
    made = stage.canvas.add(x=0)
    assert stage.next("LAYER", "CREATE")["id"] == made["id"]
    for x in range(1, 31):
        stage.canvas.patch(made["id"], x=x)
    assert [stage.next("LAYER", "UPDATE")["x"] for _ in range(30)] == list(range(1, 31))
