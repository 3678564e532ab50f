"""Tests the chart in a real cluster: upgrade during a live show; uninstall and reinstall that keep shows."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from tests.support.canaries import places, secrets_of, spellings
from tests.support.certificate_authority import CertificateAuthority
from tests.support.cloud_balancers import CloudBalancers
from tests.support.cluster import SHOWS, SYSTEM, LocalCluster
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.previews import seen
from tests.support.programs import program
from tests.support.receiver import GapMonitor, ReceiverClient
from tests.support.rooms.member import member
from tests.support.shows import FacadeClient, LiveShow
from tests.support.waiting import seconds_until

from onair_crds.contract.rooms import SIGNAL_PATH
from onair_crds.shapes import JsonObject

ROOT = Path(__file__).parents[3]
INGEST = "ingest.example.org"
PASSPHRASE_SECRET = "srt-passphrase"
REGIONS = ("us-east-1", "eu-central-1")
"""Of the two workers, see dev/values.yaml."""


def helm(cluster: LocalCluster, *arguments: str) -> str:
    command = [str(program("helm")), "--kubeconfig", str(cluster.kubeconfig_path), "-n", SYSTEM]
    done = subprocess.run([*command, *arguments], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def install(cluster: LocalCluster, facade: FacadeClient) -> None:
    """Installs the chart as `make up` does, and signs in with its API key."""
    subprocess.run([sys.executable, "-m", "onair_dev", "up"], check=True, cwd=ROOT)
    facade.sign_in(cluster.api_key())


@pytest.fixture
def reinstall(cluster: LocalCluster, facade_client: FacadeClient) -> Iterator[None]:
    """Installs the chart after the test."""
    yield
    install(cluster, facade_client)


@pytest.fixture
def certificate(cluster: LocalCluster, tmp_path: Path) -> Iterator[ssl.SSLContext]:
    """A Secret with a certificate of ingest's name; gives what trusts it."""
    authority = CertificateAuthority(tmp_path)
    certificate, key = authority.issue_for(INGEST)
    secret = ("secret", "tls", "ingest-tls", f"--cert={certificate}", f"--key={key}")
    cluster.kubectl("-n", SYSTEM, "create", *secret)
    yield ssl.create_default_context(cafile=str(authority.certificate))
    cluster.kubectl("-n", SYSTEM, "delete", "secret", "ingest-tls")


@pytest.fixture
def passphrase(cluster: LocalCluster) -> Iterator[str]:
    """What the Secret PASSPHRASE_SECRET holds, for all who push by SRT."""
    passphrase = f"canary-passphrase-{uuid.uuid4().hex}"
    literal = f"--from-literal=passphrase={passphrase}"
    cluster.kubectl("-n", SYSTEM, "create", "secret", "generic", PASSPHRASE_SECRET, literal)
    yield passphrase
    cluster.kubectl("-n", SYSTEM, "delete", "secret", PASSPHRASE_SECRET)


def test_an_upgrade_with_other_values_does_not_affect_a_live_show(
    on_air: LiveShow,
    make_show: Callable[..., LiveShow],
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    certificate: ssl.SSLContext,
    passphrase: str,
    reinstall: None,
    tmp_path: Path,
) -> None:
    chart = shutil.copytree(ROOT / "charts/onair", tmp_path / "onair")
    definition = chart / "files/crds/projects.yaml"
    changed = yaml.safe_load(definition.read_text())
    changed["spec"]["names"]["shortNames"].append("programme")
    definition.write_text(yaml.safe_dump(changed))
    pod = cluster.encoder_pod(on_air.project)
    uid = cluster.get("pod", pod)["metadata"]["uid"]
    values = [f"--set-string={each}" for each in ("ingest.rtmp.baseUrl=", "ingest.srt.baseUrl=")]
    values += [f"--set=ingest.service.nodePorts.{each}=0" for each in ("rtmp", "srt")]
    values += ["--set=ingest.service.type=LoadBalancer", "--set=ingest.service.perRegion=true"]
    values += ["--set=ingest.rtmp.tlsSecret=ingest-tls", "--set=operator.logLevel=DEBUG"]
    values += [f"--set=ingest.srt.passphraseSecret.name={PASSPHRASE_SECRET}"]
    values += ["--set=rooms.media.exposure=HostNetwork"]
    with CloudBalancers(cluster, SYSTEM) as balancers, GapMonitor(receiver, path) as gap:
        helm(
            cluster, "upgrade", "onair", str(chart), "--reuse-values", "--wait", "--timeout", "180s", *values
        )  # fmt: skip
        cluster.until("the new name is served", lambda: on_air.project in cluster.shows("get", "programme"))
    assert gap.certain_s < 1.0
    assert cluster.get("pod", pod)["metadata"]["uid"] == uid
    for region in REGIONS:
        pushes_to_a_region(on_air, cluster, region, balancers.given, certificate)
    pushes_with_a_passphrase(on_air, cluster, balancers.given["onair-ingest"], passphrase)
    asyncio.run(meets_in_a_room(make_show(webrtc={"hosted": {}}), cluster))


async def meets_in_a_room(show: LiveShow, cluster: LocalCluster) -> None:
    """Two participants join; one sees and hears the other."""
    facade = show.facade
    others = facade.another_session(cluster.api_key())
    url = str(facade.http.base_url).rstrip("/").replace("http", "ws", 1) + SIGNAL_PATH
    anna_token, ben_token = (
        each.call("POST", f"{show.path}/webrtc/token", {"displayName": "Anna"})["webrtcAccess"]["accessToken"]
        for each in (facade, others)
    )
    async with member(url, anna_token, insist_s=20) as anna, member(url, ben_token) as ben:
        await anna.publish_camera(320, 180, 10)
        await anna.publish_microphone()
        await seen(ben, anna.room.local_participant.identity, more=10)
        await seconds_until(
            lambda: ben.loudest.get(anna.room.local_participant.identity, 0) > 1000, "a tone is heard"
        )


def pushes_to_a_region(
    show: LiveShow, cluster: LocalCluster, region: str, given: dict[str, str], trusted: ssl.SSLContext
) -> None:
    """Pushes a new source by RTMPS to the balancer of a region; a pod on a node of that region gets it."""
    made = f"/collection/{show.collection}/source"
    source = show.facade.call("POST", made, {"address": {"rtmpPush": {}}})["source"]

    def told() -> JsonObject | None:
        address: JsonObject = show.facade.call("GET", f"{made}/{source['sourceId']}")["source"]["address"]
        push: JsonObject = address["rtmpPush"]
        return push if push.get("baseUrl") == f"rtmp://{given['onair-ingest']}:1935/live" else None

    push = cluster.until("the balancer's address is told", told, 15)
    urls = {(each["protocol"], each.get("region")): each["baseUrl"] for each in push["endpoints"]}
    host = given[f"onair-ingest-{region}"]
    assert urls["rtmp", region] == f"rtmp://{host}:1935/live"
    assert urls["rtmps", region] == f"rtmps://{host}:1936/live"
    with socket.create_connection((host, 1936), timeout=5) as plain:
        trusted.wrap_socket(plain, server_hostname=INGEST).close()
    with FfmpegEncoder(f"{urls['rtmps', region]}/{push['key']}"):

        def gateway() -> str | None:
            status = cluster.get("source", source["sourceId"])["status"]
            return status["gateway"] if status["connect"] == "Connected" else None

        pod = cluster.get("pod", cluster.until("connected", gateway, 10), SYSTEM)
    node = cluster.get("node", pod["spec"]["nodeName"])
    assert node["metadata"]["labels"]["topology.kubernetes.io/region"] == region


def pushes_with_a_passphrase(show: LiveShow, cluster: LocalCluster, host: str, passphrase: str) -> None:
    """Pushes a new source by SRT: with the passphrase alone, which is nowhere but in its Secret meanwhile."""
    made = f"/collection/{show.collection}/source"
    source = show.facade.call("POST", made, {"address": {"srtPush": {}}})["source"]
    url = f"srt://{host}:8890?pbkeylen=32&streamid={source['address']['srtPush']['streamId']}"

    def connected() -> bool:
        return bool(cluster.get("source", source["sourceId"]).get("status", {}).get("connect") == "Connected")

    with FfmpegEncoder(url) as refused:
        assert refused.ends() != 0
    assert not connected()
    with FfmpegEncoder(f"{url}&passphrase={passphrase}"):
        cluster.until("connected with the passphrase", connected, 20)
        assert passphrase in secrets_of(cluster)
        seen = dict(places(cluster))
        assert "log of onair-ingest-us-east-1-0" in seen
        found = {place for place, text in seen.items() if any(each in text for each in spellings(passphrase))}
        assert found == set()


def test_an_uninstall_leaves_a_show_on_air_and_a_new_install_takes_it_up(
    on_air: LiveShow, cluster: LocalCluster, receiver: ReceiverClient, path: str, reinstall: None
) -> None:
    pod = cluster.encoder_pod(on_air.project)
    uid = cluster.get("pod", pod)["metadata"]["uid"]
    helm(cluster, "uninstall", "onair", "--wait", "--timeout", "120s")
    cluster.kubectl("-n", SYSTEM, "wait", "--for=delete", "pod", "--all", "--timeout=60s")
    assert SHOWS in cluster.kubectl("get", "namespaces", "-o", "name")
    definitions = cluster.kubectl("get", "crds", "-o", "name")
    for plural in ("collections", "projects", "sources", "destinations", "layouts"):
        assert f"{plural}.onair.dev" in definitions
    assert cluster.get("project", on_air.project)["spec"]["collectionId"] == on_air.collection
    assert cluster.get("pod", pod)["status"]["phase"] == "Running"

    install(cluster, on_air.facade)
    assert cluster.get("pod", pod)["metadata"]["uid"] == uid
    receiver.wait_steady(path)
    broadcast = on_air.wait_phase("RUNNING")["broadcastId"]
    on_air.stop()
    assert on_air.wait_phase("STOPPED")["broadcastId"] == broadcast
    assert cluster.get("project", on_air.project)["status"]["broadcast"]["epoch"] == 1
