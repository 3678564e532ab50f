"""A key in use is refused elsewhere; one that has replaced it is not."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from tests.support.documents import document

from onair_api.ingest.publish_admission import refusal_of
from onair_crds.contract.ingest_gateway import PublishRequest, stream_of_key
from onair_crds.kube.store import Entry


@pytest.mark.parametrize(
    ("stream", "gateway", "reason"),
    [
        (stream_of_key("k1"), "onair-ingest-1", "InUse"),
        (stream_of_key("k1"), "onair-ingest-0", None),
        (stream_of_key("former"), "onair-ingest-1", None),
        (None, "onair-ingest-1", "InUse"),
    ],
    ids=["elsewhere", "here, which knows best", "by a replaced key", "by an operator of before"],
)
def test_a_connected_source_is_in_use_by_its_key(
    stream: str | None, gateway: str, reason: str | None
) -> None:
    status = {"connect": "Connected", "gateway": gateway, "stream": stream}
    camera = {**document("camera", {"address": {"rtmpPush": {}}}), "status": status}
    asked = PublishRequest(stream_key=SecretStr("k1"), protocol="rtmp", gateway="onair-ingest-0")
    refusal = refusal_of(Entry("Source", camera), asked)
    assert (refusal.reason if refusal else None) == reason


def test_a_source_that_is_being_deleted_is_no_source_any_more() -> None:
    leaving = document("camera", {"address": {"rtmpPush": {}}}, deletionTimestamp="2026-05-01T12:00:00Z")
    asked = PublishRequest(stream_key=SecretStr("k1"), protocol="rtmp", gateway="onair-ingest-0")
    refusal = refusal_of(Entry("Source", leaving), asked)
    assert refusal
    assert refusal.reason == "UnknownKey"
