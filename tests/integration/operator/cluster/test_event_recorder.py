"""Events on a real API server: those that repeat are one, which is counted."""

from __future__ import annotations

from tests.support.operated_namespace import OperatedNamespace
from tests.support.worlds import destination

from onair_crds.kube.apis import EVENTS
from onair_crds.shapes import Document
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.cluster.event_recorder import EventRecorder

REFUSED = ResourceEvent(destination(), "NotConnected", "refused the connection", warning=True)


async def recorded(cluster: OperatedNamespace) -> list[Document]:
    items: list[Document] = (await cluster.client.list(EVENTS, cluster.namespace))["items"]
    return items


async def test_a_repeated_event_is_counted_up(cluster: OperatedNamespace) -> None:
    recorder = EventRecorder(cluster.client, cluster.namespace, "test")
    for _ in range(5):
        recorder.record(REFUSED)
    await recorder.drain()
    (event,) = await recorded(cluster)
    assert (event["count"], event["reason"]) == (5, "NotConnected")
    assert event["lastTimestamp"] >= event["firstTimestamp"]
    recorder.record(REFUSED)
    await recorder.drain()
    assert [each["count"] for each in await recorded(cluster)] == [6]


async def test_an_event_that_has_expired_is_recorded_anew(cluster: OperatedNamespace) -> None:
    recorder = EventRecorder(cluster.client, cluster.namespace, "test")
    recorder.record(REFUSED)
    await recorder.drain()
    (event,) = await recorded(cluster)
    await cluster.client.delete(EVENTS, cluster.namespace, event["metadata"]["name"])
    recorder.record(REFUSED)
    await recorder.drain()
    assert [each["count"] for each in await recorded(cluster)] == [2]
