"""What is looked at when a gateway reports something, or can be reached no longer."""

from __future__ import annotations

import asyncio

from tests.support.documents import document
from tests.support.show_store import show_store

from onair_operator.cluster.queue import WorkQueue
from onair_operator.ingest.gateway_streams import News
from onair_operator.reconcile import ReconcileLoop
from onair_operator.settings import GatewaySettings, IngestSettings, OperatorSettings


def taken(queue: WorkQueue) -> set[str]:
    """The keys that wait."""
    keys = [asyncio.run(queue.take()) for _ in range(len(queue))]
    for key in keys:
        queue.done(key)
    return {str(key) for key in keys}


def test_a_gateways_word_bears_on_streams_and_their_sources_and_its_silence_on_all_that_it_has() -> None:
    store = show_store()
    pulled = {"collectionId": "sunday", "address": {"rtmpPull": {"url": "rtmp://media.example/live/a"}}}
    store.update("Source", document("relay", pulled))
    phone = {**document("phone", {"collectionId": "sunday"}), "status": {"gateway": "ingest-0"}}
    store.update("Source", phone)
    queue = WorkQueue()
    loop = ReconcileLoop(store, queue, OperatorSettings())
    loop.told(News("ingest-0", frozenset({"pull-relay", "nobodys"})))
    assert taken(queue) == {"Stream/pull-relay", "Stream/nobodys", "Source/relay"}
    loop.told(News("ingest-0", frozenset(), contact=True))
    assert taken(queue) == {"Source/phone", "Source/relay", "Gateway/ingest-0"}


async def test_what_a_gateway_tells_bears_on_sources_of_former_ones() -> None:
    store, queue = show_store(), WorkQueue()
    for name, gateway in (("former", "ingest-0"), ("elsewhere", "ingest-eu-1"), ("nowhere", None)):
        source = document(name, {"collectionId": "sunday", "address": {"rtmpPush": {}}})
        store.update("Source", {**source, "status": {"gateway": gateway}})
    gateways = [GatewaySettings(name=f"ingest-eu-{n}", url="https://ingest.test") for n in range(2)]
    loop = ReconcileLoop(store, queue, OperatorSettings(ingest=IngestSettings(gateways=gateways)))
    loop.told(News("ingest-eu-0", frozenset(), contact=True))
    looked_at = {str(await queue.take()) for _ in range(len(queue))}
    assert looked_at == {"Gateway/ingest-eu-0", "Source/former"}
