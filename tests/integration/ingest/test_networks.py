"""Publishers behind networks that are slow, lossy, or cut for a while."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

import pytest
from tests.support.ingest.encoder import FfmpegEncoder, picture
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.network import Network
from tests.support.ingest.reader import reading
from tests.support.waiting import wait_for

from onair_crds.contract.access_units import UnitKind
from onair_crds.contract.ingest_gateway import stream_of_key

pytestmark = pytest.mark.media

SHORT_CUT_S, LONG_CUT_S = 2.0, 20.0
SILENT_WITHIN_S, TRIES = 2.0, 3
"""In the quickest of three tries, and three times that in each: 1.6 s is what it may take anywhere."""


@pytest.fixture
def network(pod: IngestPod) -> Iterator[Network]:
    with Network(pod.rtmp_port, pod.srt_port) as network:
        yield network


def address(network: Network, protocol: str, key: str) -> str:
    if protocol == "rtmp":
        return f"rtmp://127.0.0.1:{network.tcp_port}/live/{key}"
    return f"srt://127.0.0.1:{network.udp_port}?streamid=publish:{key}"


def lost_packets(key: str) -> str:
    """The metric of a stream that is pushed by SRT."""
    return f'onair_ingest_srt_lost_packets_total{{protocol="srt",stream="{stream_of_key(key)}"}}'


def wait_out(seconds: float) -> None:
    """Returns once a cut has lasted so long."""
    until_s = time.monotonic() + seconds
    wait_for(lambda: time.monotonic() >= until_s, "the cut has lasted", seconds + 1)


@pytest.mark.parametrize("protocol", ["rtmp", "srt"])
def test_an_encoder_goes_on_after_a_cut_of_two_seconds(
    pod: IngestPod, follower: Follower, network: Network, key: str, protocol: str
) -> None:
    with FfmpegEncoder(address(network, protocol, key)) as encoder:
        follower.flowing(key)
        took_s = []
        for _ in range(TRIES):
            told = len(follower.of(key))
            with network.cut():
                cut_at_s = time.monotonic()
                silent = follower.wait(key, lambda state: not state.flowing, "it is silent", after=told)
                took_s.append(silent.at_s - cut_at_s)
                wait_out(cut_at_s + SHORT_CUT_S - time.monotonic())
                told = len(follower.of(key))
            follower.flowing(key, after=told)
        assert min(took_s) < SILENT_WITHIN_S
        assert max(took_s) < SILENT_WITHIN_S * 3
        assert encoder.process.poll() is None
        assert all(each.state.online for each in follower.of(key)), "it is the same connection"


@pytest.mark.parametrize("protocol", ["rtmp", "srt"])
def test_a_cut_of_twenty_seconds_ends_the_connection_and_the_key_is_free_again(
    pod: IngestPod, follower: Follower, network: Network, key: str, protocol: str
) -> None:
    with FfmpegEncoder(address(network, protocol, key)) as encoder:
        follower.flowing(key)
        with network.cut():
            cut_at_s = time.monotonic()
            ended = follower.ended(key)
            assert ended.at_s - cut_at_s < 12, "ten seconds without a byte end a connection"
            wait_out(cut_at_s + LONG_CUT_S - time.monotonic())
        assert encoder.ends() != 0
    told = len(follower.of(key))
    with FfmpegEncoder(address(network, protocol, key)):
        follower.flowing(key, after=told)


async def test_srt_makes_up_for_a_network_that_loses_every_twentieth_packet(
    pod: IngestPod, follower: Follower, network: Network, secret: bytes, key: str
) -> None:
    with FfmpegEncoder(address(network, "srt", key) + "&latency=400000"):
        follower.flowing(key)
        wait_for(lambda: lost_packets(key) in pod.metrics, "they are counted", 10)
        lost_before = pod.metric(lost_packets(key))
        network.loss = 0.05
        async with reading(pod.port, secret, key) as reader:
            video = await reader.read(150, timeout_s=30)
        assert network.lost > 20
        assert not follower.interruptions(key)
        wait_for(lambda: pod.metric(lost_packets(key)) > lost_before, "what is lost is counted", 10)
    times = sorted(record.pts_us for record in video)
    steps = [round((later - earlier) / 1000) for earlier, later in pairwise(times)]
    assert max(steps[:-4]) < 50, "each picture has come"
    assert len(reader.pictures()) == 150
    assert not [record for record in reader.records if record.kind is UnitKind.VIDEO and record.gap]


def test_an_encoder_on_a_network_slower_than_its_stream_stays_connected(
    pod: IngestPod, follower: Follower, network: Network, key: str
) -> None:
    options = ("-b:v", "2M", "-minrate", "2M", "-maxrate", "2M", "-bufsize", "1M", "-x264opts", "nal-hrd=cbr")
    network.bytes_per_s = 100_000
    with FfmpegEncoder(address(network, "rtmp", key), video=picture("640x360"), options=options) as encoder:
        first = follower.flowing(key)
        wait_out(first.at_s + 8 - time.monotonic())
        assert encoder.process.poll() is None
        assert not follower.interruptions(key)
