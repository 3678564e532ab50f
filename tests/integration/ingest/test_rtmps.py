"""RTMPS: sources that push by it, and servers that are pulled from by it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.support.certificate_authority import CertificateAuthority
from tests.support.helm import named, render
from tests.support.ingest.encoder import Encoder
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.rtmp_server import RtmpServer
from tests.support.ingest.scripted_facade import ScriptedFacade

from onair_crds.contract.ingest_gateway import PULLS_PATH
from onair_crds.shapes import Document

pytestmark = pytest.mark.media

PASSPHRASE = "long enough for SRT"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("authority"))


def server_environment(objects: list[Document], secrets: dict[str, dict[str, Path | str]]) -> dict[str, str]:
    """Variables of MediaMTX as the chart renders them: of what is mounted the files here."""
    pod = named(objects, "StatefulSet", "onair-ingest")["spec"]["template"]["spec"]
    (container,) = (each for each in pod["containers"] if each["name"] == "mediamtx")
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    files = {
        f"{mounts[volume['name']]}/{name}": str(file)
        for volume in pod["volumes"]
        if volume["name"] in mounts and "secret" in volume
        for name, file in secrets[volume["secret"]["secretName"]].items()
    }
    environment = {}
    for variable in container["env"]:
        if reference := variable.get("valueFrom", {}).get("secretKeyRef"):
            environment[variable["name"]] = str(secrets[reference["name"]][reference["key"]])
        else:
            environment[variable["name"]] = files.get(variable["value"], variable["value"])
    return environment


@pytest.fixture(scope="module")
def secured(
    tmp_path_factory: pytest.TempPathFactory,
    authority: CertificateAuthority,
    scripted_facade: ScriptedFacade,
    secret: bytes,
) -> Iterator[IngestPod]:
    """An ingest pod with a certificate and a passphrase by the chart's values; it trusts the authority."""
    certificate, key = authority.issue("ingest", "ingest")
    secrets = {"ingest-tls": {"tls.crt": certificate, "tls.key": key}, "srt": {"passphrase": PASSPHRASE}}
    values = ("--set", "ingest.rtmp.tlsSecret=ingest-tls", "--set", "ingest.srt.passphraseSecret.name=srt")
    server = server_environment(render(*values), secrets)
    settings = {
        "SSL_CERT_FILE": str(authority.certificate),
        "ONAIR_INSIDE__ALLOWED_RANGES": '["127.0.0.0/8"]',
    }
    folder = tmp_path_factory.mktemp("secured")
    with IngestPod(folder, scripted_facade.url, secret, settings=settings, server=server) as pod:
        yield pod


def test_a_source_pushes_by_rtmps_and_by_rtmp_as_well(secured: IngestPod, key: str) -> None:
    with secured.follow() as follower:
        with Encoder(f"{secured.rtmps}/{key}"):
            assert follower.flowing(key).state.protocol == "rtmps"
            with Encoder(f"{secured.rtmp}/{key}") as second:
                assert second.ends() != 0
        follower.ended(key)
        told = len(follower.of(key))
        with Encoder(f"{secured.rtmp}/{key}"):
            assert follower.flowing(key, after=told).state.protocol == "rtmp"


def test_srt_needs_the_passphrase_and_a_wrong_one_takes_no_place(secured: IngestPod, key: str) -> None:
    url = secured.srt(f"publish:{key}")
    with secured.follow() as follower:
        for wrong in (url, f"{url}&passphrase=quite another one"):
            with Encoder(wrong) as encoder:
                assert encoder.ends() != 0
        with Encoder(f"{url}&passphrase={PASSPHRASE}"):
            assert follower.flowing(key).state.protocol == "srt"
    assert PASSPHRASE not in secured.log


@pytest.mark.parametrize(
    ("host", "reason"), [("localhost", None), ("127.0.0.2", "the certificate of 127.0.0.2:{} is not valid")]
)
def test_a_pull_by_rtmps_verifies_the_servers_certificate(
    secured: IngestPod, authority: CertificateAuthority, tmp_path: Path, host: str, reason: str | None
) -> None:
    name, key = f"source-{secrets.token_hex(4)}", secrets.token_hex(8)
    with (
        RtmpServer(tmp_path, authority.issue("far", "far")) as server,
        Encoder(f"{server.url}/{key}"),
        secured.follow() as follower,
    ):
        server.wait_ready(key)
        body = {"pulls": {f"pull-{name}": {"url": f"rtmps://{host}:{server.rtmps_port}/live/{key}"}}}
        httpx.put(follower.url + PULLS_PATH, json=body, headers=follower.headers).raise_for_status()
        state = follower.wait_stream(
            f"pull-{name}", lambda state: state.flowing or bool(state.error), "the pull flows or fails"
        ).state
    assert (state.error or "").startswith((reason or "").format(server.rtmps_port))
    assert state.flowing == (reason is None)
