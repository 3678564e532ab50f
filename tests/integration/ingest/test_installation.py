"""Encoder, ingest pod, facade and operator together, over a real API server."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.control_plane import free_port
from tests.support.facade import Cluster, Facade, StartFacade, User, wait_for
from tests.support.ingest.encoder import Encoder
from tests.support.ingest.gateway_client import hook_url, ingest_secret
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.operator_thread import OperatorThread
from tests.support.ingest.rtmp_server import RtmpServer

from onair_api.settings import IngestSettings
from onair_crds.shapes import JsonObject
from onair_operator.settings import GatewaySettings, LeaderElectionSettings, OperatorSettings
from onair_operator.settings import IngestSettings as OperatorIngest

pytestmark = pytest.mark.media

WITHIN_S = 2.0
"""Twice the bound, as everywhere in tests."""


@dataclass(frozen=True)
class Installation:
    pod: IngestPod
    other_pod: IngestPod
    facade: Facade
    cluster: Cluster
    user: User

    def source(self, **address: JsonObject) -> JsonObject:
        body = {"address": address}
        path = f"/collection/{self.user.collection()}/source"
        return self.user.ok("POST", path, body)["source"]  # type: ignore[no-any-return]

    def status(self, source: JsonObject) -> JsonObject:
        return self.cluster.get("sources", source["sourceId"]).get("status") or {}

    def wait_connect(self, source: JsonObject, wanted: str, deadline_s: float = 20.0) -> JsonObject:
        wait_for(lambda: self.status(source).get("connect") == wanted, f"the source is {wanted}", deadline_s)
        return self.status(source)


@pytest.fixture(scope="module")
def installation(
    tmp_path_factory: pytest.TempPathFactory,
    start_facade: StartFacade,
    cluster: Cluster,
    kubeconfig: Path,
    sign_in: Callable[..., User],
) -> Iterator[Installation]:
    secret = ingest_secret(cluster)
    with start_facade(ingest=IngestSettings(hook_port=0)) as facade:
        inside = {"ONAIR_PULLS__ALLOWED_RANGES": '["127.0.0.0/8"]'}
        names = ("onair-ingest-0", "onair-ingest-1")
        pod, other = (
            IngestPod(tmp_path_factory.mktemp(name), hook_url(facade), secret, name, settings=inside)
            for name in names
        )
        gateways = [
            GatewaySettings(name=name, url=f"http://127.0.0.1:{each.port}")
            for name, each in zip(names, (pod, other), strict=True)
        ]
        settings = OperatorSettings(
            show_namespace=cluster.shows,
            release_namespace=cluster.release,
            ingest=OperatorIngest(gateways=gateways, pull_inside=True),
            leader_election=LeaderElectionSettings(lease_duration_s=3.0, renew_interval_s=0.5),
            health_port=free_port(),
        )
        with pod, other, OperatorThread(settings, kubeconfig):
            yield Installation(pod, other, facade, cluster, sign_in(facade=facade))


def path_of(source: JsonObject) -> str:
    return f"/collection/{source['collectionId']}/source/{source['sourceId']}"


def test_a_push_connects_its_source_and_a_disabled_one_is_cut_off_and_refused(
    installation: Installation,
) -> None:
    source = installation.source(rtmpPush={"enabled": True})
    url = f"{installation.pod.rtmp}/{source['address']['rtmpPush']['key']}"
    with Encoder(url) as encoder:
        status = installation.wait_connect(source, "Connected")
        assert status["gateway"] == "onair-ingest-0"
        assert status["media"]["video"]["width"] == 320
        began_s = time.monotonic()
        installation.user.ok("PATCH", path_of(source), {"address": {"rtmpPush": {"enabled": False}}})
        installation.wait_connect(source, "Disconnected")
        assert time.monotonic() - began_s < WITHIN_S
        assert encoder.ends() != 0
    with Encoder(url) as refused:
        assert refused.ends() != 0
    assert 'reason": "Disabled"' in installation.pod.log
    installation.user.ok("PATCH", path_of(source), {"address": {"rtmpPush": {"enabled": True}}})
    with Encoder(url):
        installation.wait_connect(source, "Connected")


def test_a_deleted_source_is_cut_off_and_its_key_is_unknown(installation: Installation) -> None:
    source = installation.source(srtPush={"enabled": True})
    url = installation.pod.srt(source["address"]["srtPush"]["streamId"])
    with Encoder(url) as encoder:
        installation.wait_connect(source, "Connected")
        began_s = time.monotonic()
        installation.user.ok("DELETE", path_of(source))
        assert encoder.ends() != 0
        assert time.monotonic() - began_s < WITHIN_S + 1  # ffmpeg itself takes a while to notice
    before = installation.pod.metric('onair_ingest_refused_total{protocol="srt",reason="UnknownKey"}')
    with Encoder(url) as refused:
        assert refused.ends() != 0
    assert installation.pod.metric('onair_ingest_refused_total{protocol="srt",reason="UnknownKey"}') > before


def test_a_source_is_pulled(installation: Installation, tmp_path: Path) -> None:
    key = secrets.token_hex(8)
    with RtmpServer(tmp_path) as far, Encoder(f"{far.url}/{key}"):
        far.wait_ready(key)
        source = installation.source(rtmpPull={"url": f"{far.url}/{key}"})
        installation.wait_connect(source, "Connected")
        installation.user.ok("DELETE", path_of(source))
        wait_for(lambda: not far.readers(key), "the pull has ended")


def test_a_source_that_one_ingest_pod_receives_is_in_use_at_another_until_that_pod_dies(
    installation: Installation,
) -> None:
    source = installation.source(rtmpPush={"enabled": True})
    key = source["address"]["rtmpPush"]["key"]
    here, there = installation.pod, installation.other_pod
    with Encoder(f"{here.rtmp}/{key}") as first:
        installation.wait_connect(source, "Connected")
        with Encoder(f"{there.rtmp}/{key}") as second:
            assert second.ends() != 0
        assert there.metric('onair_ingest_refused_total{protocol="rtmp",reason="InUse"}') > 0
        assert first.process.poll() is None
        killed_at_s = here.kill(here.server)
        here.kill(here.gateway)
        installation.wait_connect(source, "Disconnected")
        assert time.monotonic() - killed_at_s < 2 * WITHIN_S + 1
    with Encoder(f"{there.rtmp}/{key}"):
        installation.wait_connect(source, "Connected")
        assert installation.status(source)["gateway"] == "onair-ingest-1"
    here.start_server()
    here.start_gateway()
