"""Events on a real API server: those that repeat are one, which is counted."""

from __future__ import annotations

from tests.support.operated_namespace import OperatedNamespace
from tests.support.worlds import destination

from onair_crds.kube.apis import EVENTS
from onair_crds.shapes import Document
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.cluster.event_recorder import EventRecorder

REFUSED = ResourceEvent(destination(), "NotConnected", "refused the connection", warning=True)


async def recorded(operated_namespace: OperatedNamespace) -> list[Document]:
    items: list[Document] = (await operated_namespace.client.list(EVENTS, operated_namespace.namespace))[
        "items"
    ]
    return items


async def test_a_repeated_event_is_counted_up(operated_namespace: OperatedNamespace) -> None:
    recorder = EventRecorder(operated_namespace.client, operated_namespace.namespace, "test")
    for _ in range(5):
        recorder.record(REFUSED)
    await recorder.drain()
    (event,) = await recorded(operated_namespace)
    assert (event["count"], event["reason"]) == (5, "NotConnected")
    assert event["lastTimestamp"] >= event["firstTimestamp"]
    recorder.record(REFUSED)
    await recorder.drain()
    assert [each["count"] for each in await recorded(operated_namespace)] == [6]


async def test_an_event_that_has_expired_is_recorded_anew(operated_namespace: OperatedNamespace) -> None:
    recorder = EventRecorder(operated_namespace.client, operated_namespace.namespace, "test")
    recorder.record(REFUSED)
    await recorder.drain()
    (event,) = await recorded(operated_namespace)
    await operated_namespace.client.delete(EVENTS, operated_namespace.namespace, event["metadata"]["name"])
    recorder.record(REFUSED)
    await recorder.drain()
    assert [each["count"] for each in await recorded(operated_namespace)] == [2]
