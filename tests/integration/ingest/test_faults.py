"""Parts of an ingest pod that end, hang or are slow."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.ingest_containers import IngestContainers, Part
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.processes import suspend
from tests.support.waiting import WITHIN_S, wait_for

from onair_crds.contract.times import parse_time

pytestmark = pytest.mark.media

SILENT_WITHIN_S = 6.0
TRUE_AGAIN_S = 6.0
"""From when a pod is told to stop: twice the bound, as everywhere in tests."""


@pytest.mark.parametrize(
    "url", ["{rtmp}/{key}", "{srt}?streamid=publish:camera:me:{key}"], ids=["by path", "by a password of SRT"]
)
def test_a_gateway_that_is_killed_leaves_publishers_and_tells_the_truth_when_it_is_back(
    own_pod: IngestPod, key: str, url: str
) -> None:
    url = url.format(rtmp=own_pod.rtmp, srt=own_pod.srt_server, key=key)
    with FfmpegEncoder(url) as encoder, own_pod.follow() as follower:
        first = follower.flowing(key).state
        told = len(follower.of(key))
        own_pod.kill(own_pod.gateway)
        own_pod.start_gateway()
        again = follower.wait(key, lambda _: True, "told again", after=told).state
        assert again.flowing
        assert again.publisher == first.publisher == "127.0.0.1", "it is known where it comes from"
        assert abs((parse_time(again.since) - parse_time(first.since)).total_seconds()) < 1
        assert encoder.process.poll() is None
        with FfmpegEncoder(f"{own_pod.rtmp}/{key}") as second:
            assert second.ends() != 0, "the one that was there before has its place still"
        told = len(follower.of(key))
        own_pod.gateway.stop()
        assert own_pod.gateway.process.returncode == 0, own_pod.log
        own_pod.start_gateway()
        follower.flowing(key, after=told)
        assert all(each.state.online for each in follower.of(key)), "nor does one say so that is told to end"
        assert encoder.process.poll() is None


def test_who_showed_a_password_by_srt_is_nobody_where_the_file_of_connections_is_lost(
    own_pod: IngestPod, key: str
) -> None:
    """So the operator cuts it off, and the key counts again as it reconnects."""
    url = own_pod.srt(f"publish:camera:me:{key}")
    with FfmpegEncoder(url) as encoder, own_pod.follow() as follower:
        follower.flowing(key)
        own_pod.kill(own_pod.gateway)
        own_pod.connections_file.unlink()
        told = len(follower.told)
        own_pod.start_gateway()
        assert follower.wait("me", lambda _: True, "it has the user's name").state.online
        assert encoder.process.poll() is None
        assert follower.disconnect("me").status_code == 204
        assert encoder.ends() != 0
        with FfmpegEncoder(url):
            follower.flowing(key, after=told)


@pytest.mark.parametrize("order", [("gateway", "server"), ("server", "gateway")])
def test_a_pod_that_is_stopped_tells_at_once_that_its_streams_end(
    tmp_path: Path, secret: bytes, key: str, scripted_facade: ScriptedFacade, order: tuple[Part, Part]
) -> None:
    """And not that they flow, as it did for as long as its own parts took to end."""
    by_srt = f"{key}-srt"
    scripted_facade.keys.add(by_srt)
    with (
        IngestContainers(tmp_path, scripted_facade.url, secret) as pod,
        pod.follow() as follower,
        FfmpegEncoder(f"{pod.rtmp}/{key}"),
        FfmpegEncoder(pod.srt(f"publish:{by_srt}")),
    ):
        for each in (key, by_srt):
            follower.flowing(each)
        stopped_at_s = pod.tell_to_end(*order)
        for each in (key, by_srt):
            ended = follower.ended(each)
            assert ended.at_s - stopped_at_s < TRUE_AGAIN_S
            assert (ended.state.error, ended.state.unknown) == ("the ingest server ended", True)
        assert [pod.exit_code(part) for part in order] == [0, 0], pod.log


def test_a_pod_that_is_stopped_keeps_its_network_until_services_have_left_it_out(
    tmp_path: Path, scripted_facade: ScriptedFacade, secret: bytes
) -> None:
    with IngestPod(tmp_path, scripted_facade.url, secret, settings={"ONAIR_STOP_S": "2"}) as pod:
        told_at_s = pod.stop()
        assert time.monotonic() - told_at_s >= 2
    assert pod.gateway.process.returncode == 0, pod.log


def test_a_gateway_that_hangs_leaves_publishers_and_goes_on_with_what_is_true_then(
    own_pod: IngestPod, key: str
) -> None:
    with FfmpegEncoder(f"{own_pod.rtmp}/{key}") as encoder, own_pod.follow() as follower:
        follower.flowing(key)
        suspend(own_pod.gateway.process.pid)
        encoder.process.kill()
        encoder.process.wait()
        own_pod.gateway.process.send_signal(signal.SIGCONT)
        continued_at_s = time.monotonic()
        assert follower.ended(key).at_s - continued_at_s < WITHIN_S


def test_a_server_that_is_killed_ends_its_streams_and_admits_them_again(own_pod: IngestPod, key: str) -> None:
    with own_pod.follow() as follower:
        with FfmpegEncoder(f"{own_pod.rtmp}/{key}") as encoder:
            follower.flowing(key)
            killed_at_s = own_pod.kill(own_pod.server)
            ended = follower.ended(key)
            assert ended.at_s - killed_at_s < WITHIN_S
            assert (ended.state.error, ended.state.unknown) == ("the ingest server ended", True)
            assert own_pod.server_is_alive(), "its container is restarted without a probe"
            assert encoder.ends() != 0
        told = len(follower.of(key))
        own_pod.start_server()
        known = follower.wait(key, lambda state: not state.unknown, "it is back, without it", after=told)
        assert not known.state.online
        with FfmpegEncoder(f"{own_pod.rtmp}/{key}"):
            follower.flowing(key, after=told)


def test_a_server_that_hangs_makes_its_streams_silent_within_three_seconds(
    own_pod: IngestPod, key: str
) -> None:
    with FfmpegEncoder(f"{own_pod.rtmp}/{key}"), own_pod.follow() as follower:
        follower.flowing(key)
        told = len(follower.of(key))
        suspend(own_pod.server.process.pid)
        stopped_at_s = time.monotonic()
        silent = follower.wait(key, lambda state: not state.flowing, "the stream is silent", after=told)
        assert silent.at_s - stopped_at_s < SILENT_WITHIN_S
        assert silent.state.error == "the ingest server does not respond"
        wait_for(lambda: not own_pod.is_ready(), "the gateway is not ready", 5)
        wait_for(lambda: not own_pod.server_is_alive(), "the server is taken for hung", 10)
        told = len(follower.of(key))
        own_pod.server.process.send_signal(signal.SIGCONT)
        follower.flowing(key, after=told)
        wait_for(own_pod.is_ready, "the gateway is ready again", 5)
        assert own_pod.server_is_alive()
