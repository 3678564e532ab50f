"""Sources that are pulled: brought in, tried again, and never from inside."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.support.control_plane import free_port
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.rtmp_server import RtmpServer
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.waiting import wait_for

from onair_crds.contract.ingest_gateway import PULLS_PATH, stream_of_pull

pytestmark = pytest.mark.media


@pytest.fixture(scope="module")
def puller(
    tmp_path_factory: pytest.TempPathFactory, scripted_facade: ScriptedFacade, secret: bytes
) -> Iterator[IngestPod]:
    """An ingest pod that may pull from this machine."""
    settings = {"ONAIR_INSIDE__ALLOWED_RANGES": '["127.0.0.0/8"]', "ONAIR_PULLS__FIRST_PAUSE_S": "0.2"}
    with IngestPod(tmp_path_factory.mktemp("puller"), scripted_facade.url, secret, settings=settings) as pod:
        yield pod


@pytest.fixture(scope="module")
def told(puller: IngestPod) -> Iterator[Follower]:
    with puller.follow() as follower:
        yield follower


@pytest.fixture
def far_server(tmp_path: Path) -> Iterator[RtmpServer]:
    with RtmpServer(tmp_path) as server:
        yield server


def want(follower: Follower, **urls: str) -> httpx.Response:
    """Tells the gateway all that it is to pull."""
    body = {"pulls": {stream_of_pull(name): {"url": url} for name, url in urls.items()}}
    return httpx.put(follower.url + PULLS_PATH, json=body, headers=follower.headers)


def test_a_stream_is_pulled_and_ended_when_it_is_wanted_no_more(
    puller: IngestPod, told: Follower, far_server: RtmpServer
) -> None:
    name, key = f"source-{secrets.token_hex(4)}", secrets.token_hex(8)
    with FfmpegEncoder(f"{far_server.url}/{key}"):
        far_server.wait_ready(key)
        assert want(told, **{name: f"{far_server.url}/{key}"}).status_code == 204
        stream = stream_of_pull(name)
        state = told.wait_stream(stream, lambda state: state.flowing, "the pull flows").state
        assert (state.protocol, state.error) == ("pull", None)
        assert state.video
        assert (state.video.codec, state.video.width) == ("H264", 320)
        assert state.audio
        assert len(far_server.readers(key)) == 1
        assert want(told).status_code == 204
        told.wait_stream(stream, lambda state: not state.online, "the pull ends")
    assert key not in puller.log


def test_a_pull_is_tried_again_and_says_why_it_fails(
    puller: IngestPod, told: Follower, far_server: RtmpServer
) -> None:
    name, key = f"source-{secrets.token_hex(4)}", secrets.token_hex(8)
    stream = stream_of_pull(name)
    want(told, **{name: f"{far_server.url}/{key}"})
    failed = told.wait_stream(stream, lambda state: bool(state.error), "a reason is told").state
    assert (failed.online, failed.flowing) == (False, False)
    with FfmpegEncoder(f"{far_server.url}/{key}") as encoder:
        told.wait_stream(stream, lambda state: state.flowing, "the next attempt succeeds")
        encoder.process.kill()
        told.wait_stream(stream, lambda state: not state.online, "its end is told")
    assert key not in puller.log
    want(told)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("rtmp://127.0.0.1:{port}/live/key", "127.0.0.1:{port} refused the connection"),
        ("rtmp://no-such-name.invalid/live/key", "the name no-such-name.invalid cannot be resolved"),
        ("rtmps://127.0.0.1:{rtmp}/live/key", "127.0.0.1:{rtmp} does not speak TLS"),
    ],
)
def test_the_reason_of_a_failure_is_told(puller: IngestPod, told: Follower, url: str, reason: str) -> None:
    name = f"source-{secrets.token_hex(4)}"
    ports = {"port": free_port(), "rtmp": puller.rtmp_port}
    want(told, **{name: url.format(**ports)})
    reason = reason.format(**ports)
    state = told.wait_stream(stream_of_pull(name), lambda state: state.error == reason, reason).state
    assert state.next_attempt_s == 1, "whole seconds, of a pause of 0.2 s"
    want(told)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "[::ffff:10.0.0.1]", "0.0.0.0"]
)
def test_nothing_is_pulled_from_inside(
    pod: IngestPod, follower: Follower, far_server: RtmpServer, host: str
) -> None:
    name = f"source-{secrets.token_hex(4)}"
    want(follower, **{name: f"rtmp://{host}:{far_server.port}/live/key"})
    refused = f"{host.strip('[]')} is at an address inside this installation, which is not allowed"
    follower.wait_stream(stream_of_pull(name), lambda state: state.error == refused, "the address is refused")
    want(follower)
    assert far_server.connections() == 0


def test_what_a_former_gateway_pulled_is_forgotten(
    tmp_path: Path, scripted_facade: ScriptedFacade, secret: bytes, far_server: RtmpServer
) -> None:
    settings = {"ONAIR_INSIDE__ALLOWED_RANGES": '["127.0.0.0/8"]'}
    key = secrets.token_hex(8)
    folder = tmp_path / "pod"
    folder.mkdir()
    with (
        FfmpegEncoder(f"{far_server.url}/{key}"),
        IngestPod(folder, scripted_facade.url, secret, settings=settings) as pod,
        pod.follow() as follower,
    ):
        far_server.wait_ready(key)
        want(follower, former=f"{far_server.url}/{key}")
        follower.wait_stream("pull-former", lambda state: state.flowing, "the pull flows")
        pod.kill(pod.gateway)
        pod.start_gateway()
        wait_for(lambda: pod.configured_paths() == ["all_others"], "the former pull is forgotten", 60)
        before = len([told for told in follower.told if told.state.stream == "pull-former"])
        want(follower, former=f"{far_server.url}/{key}")
        follower.wait_stream("pull-former", lambda state: state.flowing, "it is pulled anew", after=before)


def test_what_is_not_named_as_pulls_are_is_refused(puller: IngestPod, told: Follower) -> None:
    body = {"pulls": {"../live": {"url": "rtmp://a.example/live/key"}}}
    assert httpx.put(told.url + PULLS_PATH, json=body, headers=told.headers).status_code == 400
    assert httpx.put(told.url + PULLS_PATH, json=body).status_code == 401
