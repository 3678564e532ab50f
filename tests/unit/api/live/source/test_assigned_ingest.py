"""Where sources are pushed to: values first, then what was found, then nothing."""

from __future__ import annotations

from onair_api.cache.view import View
from onair_api.cache.watched_kinds import INGEST_ADDRESSES
from onair_api.live.source.assigned_ingest import AssignedIngest
from onair_api.settings import IngestSettings
from onair_crds.contract.ingest import ADDRESSES_CONFIG_MAP, ADDRESSES_KEY, FoundAddresses, IngestEndpoint

RTMP = IngestEndpoint(protocol="rtmp", base_url="rtmp://192.0.2.7:1935/live")
RTMPS = IngestEndpoint(protocol="rtmps", base_url="rtmps://192.0.2.7:1936/live")
SRT = IngestEndpoint(protocol="srt", region="eu", base_url="srt://192.0.2.7:8890")


def found(view: View, *endpoints: IngestEndpoint, version: str = "1") -> None:
    data = {ADDRESSES_KEY: FoundAddresses(endpoints=list(endpoints)).wire()}
    metadata = {"name": ADDRESSES_CONFIG_MAP, "uid": "u", "resourceVersion": version}
    view.put(INGEST_ADDRESSES, {"metadata": metadata, "data": data})


def test_nothing_is_known_until_it_is_found() -> None:
    view = View()
    assigned = AssignedIngest(view, IngestSettings(found=True), "ns")
    assert (assigned.now().rtmp_base_url, assigned.now().srt_base_url) == (None, None)
    found(view, RTMP, RTMPS, SRT)
    now = assigned.now()
    assert (now.rtmp_base_url, now.srt_base_url) == (RTMP.base_url, SRT.base_url)
    assert now.endpoints == (RTMP, RTMPS, SRT)
    assert assigned.now() is now, "records are kept as long as it is the same"
    found(view, SRT, version="2")
    assert assigned.now().rtmp_base_url is None


def test_a_value_comes_before_what_was_found() -> None:
    view = View()
    found(view, RTMP, RTMPS, SRT)
    given = IngestSettings(found=True, rtmp_base_url="rtmp://in.example/live")
    now = AssignedIngest(view, given, "ns").now()
    assert (now.rtmp_base_url, now.srt_base_url) == ("rtmp://in.example/live", SRT.base_url)
    assert now.endpoints == (SRT,)


def test_what_another_version_wrote_is_taken_for_nothing() -> None:
    view = View()
    metadata = {"name": ADDRESSES_CONFIG_MAP, "uid": "u", "resourceVersion": "1"}
    view.put(INGEST_ADDRESSES, {"metadata": metadata, "data": {ADDRESSES_KEY: '{"endpoints": 1}'}})
    assert AssignedIngest(view, IngestSettings(found=True), "ns").now().rtmp_base_url is None


def test_where_nothing_is_looked_for_the_clusters_service_is_told() -> None:
    now = AssignedIngest(View(), IngestSettings(), "ns").now()
    assert now.rtmp_base_url == "rtmp://onair-ingest.ns.svc:1935/live"
