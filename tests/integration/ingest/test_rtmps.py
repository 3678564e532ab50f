"""RTMPS: sources that push by it, and servers that are pulled from by it."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.support.certificate_authority import CertificateAuthority
from tests.support.helm import ROOT, named, render
from tests.support.ingest.encoder import FfmpegEncoder
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


Secrets = dict[str, dict[str, Path]]
"""Files by Secret and key."""


def rendered_server(objects: list[Document], secrets: Secrets, folder: Path) -> tuple[dict[str, str], Path]:
    """Variables and settings file of MediaMTX as the chart renders it, with files here for those of its pod.

    The pod's init container is run, which makes the settings.
    """
    pod = named(objects, "StatefulSet", "onair-ingest")["spec"]["template"]["spec"]
    (server,) = (each for each in pod["containers"] if each["name"] == "mediamtx")
    (settings,) = pod["initContainers"]
    served = folder / "ingest.yml"
    served.write_text(named(objects, "ConfigMap", "onair-ingest")["data"]["mediamtx.yml"])
    made = folder / "settings.yml"
    files = {settings["command"][3]: served, settings["command"][4]: made}
    for container in (server, settings):
        files |= {
            f"{mount['mountPath']}/{item['path']}": secrets[volume["secret"]["secretName"]][item["key"]]
            for mount in container["volumeMounts"]
            for volume in pod["volumes"]
            if volume["name"] == mount["name"] and "secret" in volume
            for item in volume["secret"].get("items")
            or [{"key": key, "path": key} for key in secrets[volume["secret"]["secretName"]]]
        }

    def here(text: str) -> str:
        """A path of the pod, or the one after a name and `=`, as the file here."""
        name, equals, path = text.rpartition("=")
        return f"{name}{equals}{files.get(path, path)}"

    _python, *arguments = settings["command"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "crds")}
    subprocess.run([sys.executable, *map(here, arguments)], env=environment, check=True)
    assert here(server["args"][0]) == str(made)
    return {each["name"]: here(each["value"]) for each in server["env"]}, made


@pytest.fixture(scope="module")
def secured(
    tmp_path_factory: pytest.TempPathFactory,
    authority: CertificateAuthority,
    scripted_facade: ScriptedFacade,
    secret: bytes,
) -> Iterator[IngestPod]:
    """An ingest pod with a certificate and a passphrase by the chart's values; it trusts the authority."""
    certificate, key = authority.issue("ingest", "ingest")
    folder = tmp_path_factory.mktemp("secured")
    (folder / "passphrase").write_text(PASSPHRASE)
    secrets = {
        "ingest-tls": {"tls.crt": certificate, "tls.key": key},
        "srt": {"passphrase": folder / "passphrase"},
    }
    values = ("--set", "ingest.rtmp.tlsSecret=ingest-tls", "--set", "ingest.srt.passphraseSecret.name=srt")
    server, config = rendered_server(render(*values), secrets, folder)
    settings = {
        "SSL_CERT_FILE": str(authority.certificate),
        "ONAIR_INSIDE__ALLOWED_RANGES": '["127.0.0.0/8"]',
    }
    with IngestPod(
        folder, scripted_facade.url, secret, settings=settings, server=server, config=config
    ) as pod:
        yield pod


def test_a_source_pushes_by_rtmps_and_by_rtmp_as_well(secured: IngestPod, key: str) -> None:
    with secured.follow() as follower:
        with FfmpegEncoder(f"{secured.rtmps}/{key}"):
            assert follower.flowing(key).state.protocol == "rtmps"
            with FfmpegEncoder(f"{secured.rtmp}/{key}") as second:
                assert second.ends() != 0
        follower.ended(key)
        told = len(follower.of(key))
        with FfmpegEncoder(f"{secured.rtmp}/{key}"):
            assert follower.flowing(key, after=told).state.protocol == "rtmp"


def test_srt_needs_the_passphrase_and_a_wrong_one_takes_no_place(secured: IngestPod, key: str) -> None:
    url = secured.srt(f"publish:{key}")
    with secured.follow() as follower:
        for wrong in (url, f"{url}&passphrase=quite another one"):
            with FfmpegEncoder(wrong) as encoder:
                assert encoder.ends() != 0
        with FfmpegEncoder(f"{url}&passphrase={PASSPHRASE}"):
            assert follower.flowing(key).state.protocol == "srt"
    assert PASSPHRASE not in secured.log
    process = Path(f"/proc/{secured.server.process.pid}")
    for open_to_inspection in ("environ", "cmdline"):
        assert PASSPHRASE.encode() not in (process / open_to_inspection).read_bytes()


@pytest.mark.parametrize(
    ("host", "reason"), [("localhost", None), ("127.0.0.2", "the certificate of 127.0.0.2:{} is not valid")]
)
def test_a_pull_by_rtmps_verifies_the_servers_certificate(
    secured: IngestPod, authority: CertificateAuthority, tmp_path: Path, host: str, reason: str | None
) -> None:
    name, key = f"source-{secrets.token_hex(4)}", secrets.token_hex(8)
    with (
        RtmpServer(tmp_path, authority.issue("far", "far")) as server,
        FfmpegEncoder(f"{server.url}/{key}"),
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
