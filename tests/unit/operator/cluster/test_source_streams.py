"""Sources and their streams are found from each other by names alone."""

from __future__ import annotations

import base64

import pytest
from tests.support.documents import credentials_document, document

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_crds.kube.store import Store
from onair_operator.cluster.source_streams import key_stream, source_of, streams_of
from onair_operator.cluster.watched_kinds import KINDS, SOURCE


def add_source(store: Store, name: str, address: str = "rtmpPush", stream: str | None = None) -> None:
    spec = {"collectionId": "sunday", "address": {address: {}}}
    store.update(SOURCE, {**document(name, spec), "status": {"stream": stream} if stream else {}})


def add_key(store: Store, source: str, value: str, **changes: str) -> None:
    secret = credentials_document(f"source-{source}", source, "source", uid=f"uid-{source}-{value}")
    store.update("Secret", {**secret, "data": {"streamKey": value}, **changes})


def encoded(key: str) -> str:
    return base64.b64encode(key.encode()).decode()


@pytest.fixture
def store() -> Store:
    """A camera with a key, and a relay that is pulled."""
    store = Store(KINDS)
    add_source(store, "camera")
    add_key(store, "camera", encoded("k1"))
    add_source(store, "relay", "rtmpPull")
    return store


def streams(store: Store, name: str) -> set[str]:
    entry = store.entry(SOURCE, name)
    assert entry
    return streams_of(store, entry)


def test_a_key_and_a_pull_make_streams(store: Store) -> None:
    assert streams(store, "camera") == {stream_of_key("k1")}
    assert streams(store, "relay") == {"pull-relay"}
    assert source_of(store, stream_of_key("k1")) == "camera"
    assert source_of(store, "pull-relay") == "relay"
    assert source_of(store, stream_of_key("unknown")) is None


def test_the_stream_of_a_replaced_key_is_its_sources_while_the_status_has_it(store: Store) -> None:
    add_source(store, "camera", stream=stream_of_key("k1"))
    add_key(store, "camera", encoded("k2"))
    assert streams(store, "camera") == {stream_of_key("k1"), stream_of_key("k2")}
    assert source_of(store, stream_of_key("k1")) == "camera"
    add_source(store, "camera", stream=stream_of_key("k2"))
    assert source_of(store, stream_of_key("k1")) is None


@pytest.mark.parametrize("value", ["%%%", base64.b64encode(b"\xff\xfe").decode(), ""])
def test_what_is_no_key_makes_no_stream(store: Store, value: str) -> None:
    add_key(store, "camera", value)
    assert key_stream(store, "camera") is None


def test_a_secret_of_another_type_is_no_key(store: Store) -> None:
    add_source(store, "phone")
    add_key(store, "phone", encoded("k3"), type="Opaque")
    assert key_stream(store, "phone") is None
    assert source_of(store, stream_of_key("k3")) is None
