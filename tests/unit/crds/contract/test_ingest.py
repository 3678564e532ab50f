"""Addresses that sources are assigned."""

from __future__ import annotations

from typing import Any

import pytest

from onair_api.settings import IngestSettings
from onair_crds.contract.ingest import Ingest, assigned_push, cluster_ingest
from onair_crds.resources.source import SourceAddress


def test_what_is_configured_comes_before_the_clusters_ingest() -> None:
    default = cluster_ingest("ns")
    assert IngestSettings().addresses("ns") == default
    assert default.rtmp_base_url == "rtmp://onair-ingest.ns.svc:1935/live"
    mixed = IngestSettings(srt_base_url="srt://in.example:9").addresses("ns")
    assert mixed == Ingest(default.rtmp_base_url, "srt://in.example:9")


@pytest.mark.parametrize(
    ("address", "base", "stream", "url"),
    [
        ({"rtmpPush": {}}, "rtmp://h/live", "K", "rtmp://h/live/K"),
        ({"srtPush": {}}, "srt://h:1?latency=200", "publish:K", "srt://h:1?latency=200&streamid=publish:K"),
    ],
)
def test_an_assigned_address(address: Any, base: str, stream: str, url: str) -> None:
    given = SourceAddress.model_validate(address)
    ingest = Ingest("rtmp://h/live/", "srt://h:1?latency=200")
    assigned = assigned_push(given, "K", ingest)
    assert assigned
    assert (assigned.base_url, assigned.stream, assigned.url) == (base, stream, url)
    keyless = assigned_push(given, None, ingest)
    assert keyless
    assert (keyless.base_url, keyless.stream, keyless.url) == (base, None, None)


def test_a_pulled_source_is_assigned_nothing() -> None:
    address = SourceAddress.model_validate({"rtmpPull": {"url": "rtmp://a.example/1"}})
    assert assigned_push(address, "K", cluster_ingest("ns")) is None
