"""One publisher for a stream, and nobody but whom the facade admits."""

from __future__ import annotations

import asyncio
import secrets
import signal
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.ingest.wrong_keys import publish_with_wrong_keys
from tests.support.processes import suspend
from tests.support.waiting import wait_for

from onair_crds.contract.ingest_gateway import PublishRefusal, RefusedPublisher, stream_of_key

pytestmark = pytest.mark.media

SILENT = "connected, but no media arrives"


@pytest.mark.parametrize(
    "address",
    [
        "{rtmp}/{key}",
        "{rtmp}/camera-{unique}?token={key}",
        "{rtmp}/camera-{unique}?user=me&pass={key}",
        "{rtmp}/camera-{unique}?user={key}",
        "{srt}?streamid=publish:{key}",
        "{srt}?streamid=publish:live/{key}",
        "{srt}?streamid=publish:camera-{unique}:me:{key}",
        "{srt}?streamid=#!::m=publish,r={key}",
        "{srt}?streamid=#!::r=camera-{unique},m=publish,u=me,s={key}",
    ],
)
def test_a_key_is_found_where_encoders_can_put_it(
    pod: IngestPod, follower: Follower, key: str, address: str
) -> None:
    url = address.format(rtmp=pod.rtmp, srt=pod.srt_server, key=key, unique=secrets.token_hex(4))
    with FfmpegEncoder(url):
        assert follower.flowing(key).state.protocol == ("srt" if url.startswith("srt") else "rtmp")


def test_an_encoder_that_announces_its_tracks_is_admitted_with_its_first_media(
    pod: IngestPod, key: str, scripted_facade: ScriptedFacade
) -> None:
    """It sends half a second, and a server that looked for longer would never ask."""
    with FfmpegEncoder(f"{pod.rtmp}/{key}", options=("-t", "0.5")) as encoder:
        assert encoder.ends() == 0
    wait_for(
        lambda: key in {each.stream_key.get_secret_value() for each in scripted_facade.asked},
        "the facade is asked",
        10,
    )


def test_an_encoder_that_announces_nothing_is_looked_at_until_its_tracks_are_known(
    pod: IngestPod, follower: Follower, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}", options=("-flvflags", "no_metadata")):
        state = follower.flowing(key).state
    assert state.video
    assert state.audio


@pytest.mark.parametrize("reason", ["Disabled", "WrongProtocol", "InUse"])
def test_whom_the_facade_refuses_is_refused_with_its_reason(
    pod: IngestPod, scripted_facade: ScriptedFacade, reason: str
) -> None:
    key = secrets.token_hex(16)
    scripted_facade.refusals[key] = PublishRefusal.model_validate(
        {"reason": reason, "message": "the source s1"}
    )
    name = f'onair_ingest_refused_total{{protocol="srt",reason="{reason}"}}'
    before = pod.metric(name)
    with FfmpegEncoder(pod.srt(f"publish:{key}")) as encoder:
        assert encoder.ends() != 0
    # A handshake by SRT that is sent again, because its answer took long, is asked about again
    assert pod.metric(name) > before
    assert key not in pod.log


def test_a_second_encoder_is_refused_and_the_first_goes_on(
    pod: IngestPod, follower: Follower, key: str
) -> None:
    in_use = RefusedPublisher(stream=stream_of_key(key), reason="InUse", publisher="127.0.0.1")
    with FfmpegEncoder(f"{pod.rtmp}/{key}") as first:
        follower.flowing(key)
        for number, url in enumerate((f"{pod.rtmp}/{key}", pod.srt(f"publish:{key}")), 1):
            with FfmpegEncoder(url) as second:
                assert second.ends() != 0
            follower.wait_refused(in_use, times=number)
        assert first.process.poll() is None
        assert not follower.interruptions(key)


def test_a_silent_encoder_gives_way_to_the_next_one(pod: IngestPod, follower: Follower, key: str) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}") as first:
        follower.flowing(key)
        suspend(first.process.pid)
        silent = follower.wait(key, lambda state: state.error == SILENT, "the first is silent").state
        assert (silent.online, silent.flowing) == (True, False)
        told = len(follower.of(key))
        with FfmpegEncoder(f"{pod.rtmp}/{key}") as second:
            follower.flowing(key, after=told)
            first.process.send_signal(signal.SIGCONT)
            assert first.ends() != 0
            follower.wait_heartbeats(2)
            assert second.process.poll() is None
            follower.flowing(key, after=len(follower.of(key)) - 1)


def test_of_two_that_come_at_once_one_is_admitted(pod: IngestPod, follower: Follower, key: str) -> None:
    with (
        FfmpegEncoder(f"{pod.rtmp}/{key}") as one,
        FfmpegEncoder(f"rtmp://127.0.0.1:{pod.rtmp_port}/{key}") as two,
    ):
        follower.flowing(key)
        polls = (one.process.poll, two.process.poll)
        wait_for(lambda: any(poll() is not None for poll in polls), "one of them has ended", 10)
        assert (one.process.poll() is None) != (two.process.poll() is None)
        assert follower.of(key)[-1].state.flowing


def test_nobody_reads_from_outside(pod: IngestPod, follower: Follower, key: str) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.flowing(key)
        with FfmpegEncoder("-", video=[], audio=["-i", f"{pod.rtmp}/{key}"], options=("-t", "1")) as reader:
            assert reader.ends() != 0


def test_a_facade_that_is_away_lets_nobody_in_and_those_connected_go_on(
    pod: IngestPod, follower: Follower, key: str, scripted_facade: ScriptedFacade
) -> None:
    other = secrets.token_hex(16)
    scripted_facade.keys.add(other)
    with FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.flowing(key)
        with scripted_facade.away(), FfmpegEncoder(f"{pod.rtmp}/{other}") as second:
            assert second.ends() != 0
        assert pod.metric('onair_ingest_refused_total{protocol="rtmp",reason="Unavailable"}') > 0
        assert not follower.interruptions(key)


def test_a_facade_that_hangs_costs_those_connected_nothing(
    own_pod: IngestPod, key: str, scripted_facade: ScriptedFacade
) -> None:
    other = secrets.token_hex(16)
    with FfmpegEncoder(f"{own_pod.rtmp}/{key}"), own_pod.follow() as follower:
        follower.flowing(key)
        with scripted_facade.hanging():
            url = f"{own_pod.rtmp}/{other}"
            with FfmpegEncoder(url) as second, FfmpegEncoder(url) as third:
                assert second.ends() != 0
                assert third.ends() != 0
        assert own_pod.is_ready()
        assert not follower.interruptions(key)


def test_a_hundred_wrong_keys_a_second_cost_a_publisher_nothing(
    pod: IngestPod, follower: Follower, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.flowing(key)
        with (
            httpx.Client(base_url=f"http://127.0.0.1:{pod.hook_port}") as http,
            ThreadPoolExecutor(8) as many,
        ):

            def ask(number: int) -> int:
                question = {
                    "action": "publish",
                    "protocol": "rtmp",
                    "path": f"live/wrong-{number}",
                    "id": f"00000000-0000-0000-0000-{number:012d}",
                }
                return http.post("/publish", json=question).status_code

            used_s = pod.gateway_cpu_s()
            assert set(many.map(ask, range(500))) == {403}
            cost_s = pod.gateway_cpu_s() - used_s
        assert cost_s < 2.5, "a hundred a second take more than half a core"
        assert not follower.interruptions(key)


def test_a_hundred_wrong_keys_a_second_by_rtmp_keep_nobody_else_out(
    own_pod: IngestPod, scripted_facade: ScriptedFacade, key: str
) -> None:
    other = secrets.token_hex(16)
    scripted_facade.keys.add(other)
    with own_pod.follow() as follower, FfmpegEncoder(f"{own_pod.rtmp}/{key}"), ThreadPoolExecutor(1) as flood:
        follower.flowing(key)
        flooding = flood.submit(asyncio.run, publish_with_wrong_keys(own_pod.rtmp, 100, 8))
        with FfmpegEncoder(f"{own_pod.rtmp}/{other}"):
            follower.flowing(other)
            assert not flooding.done()
        flooding.result()
        assert own_pod.metric('onair_ingest_refused_total{protocol="rtmp",reason="UnknownKey"}') > 100
        assert own_pod.metric('onair_ingest_admitted_total{protocol="rtmp"}') == 2
        assert not follower.interruptions(key)
