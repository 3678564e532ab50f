"""Sources of a gateway that the settings do not name any more are looked at with those of any other."""

from __future__ import annotations

from tests.support.documents import document
from tests.support.show_store import show_store

from onair_operator.cluster.queue import WorkQueue
from onair_operator.ingest.gateway_streams import News
from onair_operator.reconcile import ReconcileLoop
from onair_operator.settings import GatewaySettings, IngestSettings, OperatorSettings


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
