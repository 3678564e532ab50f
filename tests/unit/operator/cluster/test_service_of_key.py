"""Each key is some service's, the installation's, or nobody's who is known."""

from __future__ import annotations

import base64

import pytest
from tests.support.documents import credentials_document, document
from tests.support.show_store import show_store

from onair_crds.contract.ingest_gateway import stream_of_key, stream_of_pull
from onair_operator.cluster.queue import Key
from onair_operator.cluster.service_of_key import OF_THE_INSTALLATION, service_of


@pytest.mark.parametrize(
    ("kind", "name", "service"),
    [
        ("Collection", "sunday", "studio"),
        ("Project", "show", "studio"),
        ("Destination", "main", "studio"),
        ("Source", "camera", "studio"),
        ("Secret", "key", "studio"),
        ("Secret", "source-camera", "studio"),
        ("Stream", stream_of_key("k1"), "studio"),
        ("Stream", stream_of_pull("camera"), "studio"),
        ("Gateway", "ingest-0", OF_THE_INSTALLATION),
        ("Node", "node-a", OF_THE_INSTALLATION),
        ("Project", "early", None),
        ("Collection", "gone", None),
        ("Project", "gone", None),
        ("Destination", "gone", None),
        ("Secret", "gone", None),
        ("Secret", "other", None),
        ("Stream", "nobodys", None),
    ],
)
def test_a_key_is_the_service_of_its_collection(kind: str, name: str, service: str | None) -> None:
    store = show_store()
    store.update("Collection", document("sunday", {"owner": {"serviceId": "studio"}}))
    store.update("Project", document("early", {"collectionId": "later"}))
    key = {"streamKey": base64.b64encode(b"k1").decode()}
    store.update("Secret", {**credentials_document("source-camera", "camera", "source"), "data": key})
    store.update("Secret", document("other"))
    assert service_of(store, Key(kind, name)) == service
