"""Encoder, ingest pod, facade and operator together, over a real API server."""

from __future__ import annotations

import contextlib
import secrets
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from tests.support.event_client import WebSocket
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.ingest_installation import PODS, IngestInstallation, path_of
from tests.support.ingest.network import Network
from tests.support.ingest.publishers import SrtLiveTransmit
from tests.support.ingest.rtmp_server import RtmpServer
from tests.support.waiting import WITHIN_S, wait_for

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_crds.shapes import JsonObject
from onair_operator.settings import TriggerSettings

pytestmark = pytest.mark.media

TRUE_WITHIN_S = 6.0
"""Likewise, of what sources say of a pod that has gone."""
STATE = "apistream:live:EVENT_TYPE_SOURCE:EVENT_SUB_TYPE_STATE"
OR = "SOURCE_TRIGGER_ACTION_OR"


def test_a_push_connects_its_source_and_a_disabled_one_is_cut_off_and_refused(
    installation: IngestInstallation,
) -> None:
    source = installation.source(rtmpPush={"enabled": True})
    url = f"{installation.pod.rtmp}/{key_of(source)}"
    with FfmpegEncoder(url) as encoder:
        status = installation.wait_connect(source, "Connected")
        assert status["gateway"] == "onair-ingest-0"
        assert status["media"]["video"]["width"] == 320
        began_s = time.monotonic()
        installation.user.ok("PATCH", path_of(source), {"address": {"rtmpPush": {"enabled": False}}})
        installation.wait_connect(source, "Disconnected")
        assert time.monotonic() - began_s < WITHIN_S
        assert encoder.ends() != 0
    with FfmpegEncoder(url) as refused:
        assert refused.ends() != 0
    assert 'reason": "Disabled"' in installation.pod.log
    installation.user.ok("PATCH", path_of(source), {"address": {"rtmpPush": {"enabled": True}}})
    with FfmpegEncoder(url):
        installation.wait_connect(source, "Connected")


def test_an_encoder_that_comes_and_is_killed_twice_is_told_by_events_each_time(
    installation: IngestInstallation,
) -> None:
    source = installation.source(rtmpPush={"enabled": True})
    key, ids = key_of(source), {name: source[name] for name in ("collectionId", "sourceId")}
    installation.wait_connect(source, "Disconnected")
    with WebSocket(installation.facade, installation.user.token) as stream:
        stream.subscribe(STATE, collectionId=source["collectionId"])

        took_s = []

        def told_within(since_s: float, connect: str, reason: str, times: int) -> None:
            told = stream.next()["result"]["event"]["payload"]["source"]["state"]
            took_s.append(time.monotonic() - since_s)
            assert told == {**ids, "connect": connect}
            wait_for(lambda: installation.events(source)[reason] == times, f"{reason}, {times} times")

        for times in (1, 2):
            with FfmpegEncoder(f"{installation.pod.rtmp}/{key}") as encoder:
                wait_for(lambda: installation.pod.has_media(key), "its media arrives")
                told_within(time.monotonic(), "CONNECT_STATE_CONNECTED", "SourceConnected", times)
                encoder.process.kill()
                told_within(time.monotonic(), "CONNECT_STATE_DISCONNECTED", "SourceDisconnected", times)
    assert sorted(took_s)[1] < WITHIN_S
    assert max(took_s) < TRUE_WITHIN_S


def test_a_key_that_was_rolled_lives_until_an_encoder_comes_with_the_new_one(
    installation: IngestInstallation,
) -> None:
    source = installation.source(rtmpPush={"enabled": True})
    key, here, there = key_of(source), installation.pod, installation.other_pod
    with FfmpegEncoder(f"{here.rtmp}/{key}") as former:
        since = installation.wait_connect(source, "Connected")["since"]
        roll = {"updateMask": "address.rtmpPush.key"}
        new = key_of(installation.user.ok("PATCH", path_of(source), roll)["source"])
        read = partial(installation.user.ok, "GET", path_of(source))
        wait_for(lambda: read()["source"].get("replacedKey"), "it is shown as replaced")
        with FfmpegEncoder(f"{there.rtmp}/{key}") as newcomer:
            assert newcomer.ends() != 0
        assert there.metric(refused("UnknownKey")) > 0
        status = installation.status(source)
        assert (status["stream"], status["since"]) == (stream_of_key(key), since)
        assert former.process.poll() is None
        with FfmpegEncoder(f"{here.rtmp}/{new}") as successor:
            assert former.ends() != 0
            wait_for(lambda: installation.status(source)["stream"] == stream_of_key(new), "it is the source")
            status = installation.status(source)
            assert (status.get("replacedKey"), status["since"]) == (None, since), "without a break"
            assert successor.process.poll() is None
    assert installation.events(source)["KeyReplaced"] == 1


def test_without_the_facade_an_encoder_stays_and_starts_and_stops_its_show_and_newcomers_are_refused(
    installation: IngestInstallation,
) -> None:
    source, other = (installation.source(rtmpPush={"enabled": True}) for _ in range(2))
    show = installation.user.project(source["collectionId"])
    trigger = {"trigger": {"start": OR, "stop": OR}}
    installation.user.ok("PUT", f"{show.path}/source/{source['sourceId']}", trigger)
    pod = installation.pod

    def status() -> JsonObject:
        return installation.resources.get("projects", show.id).get("status") or {}

    def broadcast() -> JsonObject:
        return status().get("broadcast") or {}

    wait_for(lambda: status().get("triggers"), "the trigger is known")
    with FfmpegEncoder(f"{pod.rtmp}/{key_of(source)}") as encoder:
        since = installation.wait_connect(source, "Connected")["since"]
        assert not broadcast(), "it has not lasted yet"
        with installation.facade.killed():
            wait_for(broadcast, "the show starts")
            assert broadcast()["startedBy"] == source["sourceId"]
            before = pod.metric(refused("Unavailable"))
            with FfmpegEncoder(f"{pod.rtmp}/{key_of(other)}") as newcomer:
                assert newcomer.ends() != 0
            assert pod.metric(refused("Unavailable")) > before
            assert encoder.process.poll() is None
            assert installation.status(source)["since"] == since
            encoder.process.kill()
            killed_at_s = time.monotonic()
            wait_for(lambda: broadcast().get("stoppedBy"), "the show stops")
            after_s = time.monotonic() - killed_at_s - TriggerSettings().stop_patience_s
            assert 0 < after_s < WITHIN_S
            assert broadcast()["stoppedBy"] == source["sourceId"]
            assert broadcast()["phase"] in ("Stopping", "Stopped")
    with FfmpegEncoder(f"{pod.rtmp}/{key_of(other)}"):
        installation.wait_connect(other, "Connected")


def test_a_deleted_source_is_cut_off_and_its_key_is_unknown(installation: IngestInstallation) -> None:
    source = installation.source(srtPush={"enabled": True})
    url = installation.pod.srt(source["address"]["srtPush"]["streamId"])
    with FfmpegEncoder(url) as encoder:
        installation.wait_connect(source, "Connected")
        began_s = time.monotonic()
        installation.user.ok("DELETE", path_of(source))
        assert encoder.ends() != 0
        assert time.monotonic() - began_s < WITHIN_S + 1  # ffmpeg itself takes a while to notice
    before = installation.pod.metric('onair_ingest_refused_total{protocol="srt",reason="UnknownKey"}')
    with FfmpegEncoder(url) as refused:
        assert refused.ends() != 0
    assert installation.pod.metric('onair_ingest_refused_total{protocol="srt",reason="UnknownKey"}') > before


def test_a_source_is_pulled(installation: IngestInstallation, tmp_path: Path) -> None:
    key = secrets.token_hex(8)
    with RtmpServer(tmp_path) as far, FfmpegEncoder(f"{far.url}/{key}"):
        far.wait_ready(key)
        source = installation.source(rtmpPull={"url": f"{far.url}/{key}"})
        installation.wait_connect(source, "Connected")
        installation.user.ok("DELETE", path_of(source))
        wait_for(lambda: not far.readers(key), "the pull has ended")


def test_a_source_that_one_ingest_pod_receives_is_in_use_at_another_until_that_pod_dies(
    installation: IngestInstallation,
) -> None:
    source = installation.source(rtmpPush={"enabled": True})
    key = key_of(source)
    here, there = installation.pod, installation.other_pod
    with FfmpegEncoder(f"{here.rtmp}/{key}") as first:
        installation.wait_connect(source, "Connected")
        with FfmpegEncoder(f"{there.rtmp}/{key}") as second:
            assert second.ends() != 0
        assert there.metric(refused("InUse")) > 0
        assert 'reason": "InUse"' in there.log
        assert first.process.poll() is None
        killed_at_s = here.crash()
        installation.wait_connect(source, "Disconnected")
        assert time.monotonic() - killed_at_s < 2 * WITHIN_S + 1
    with FfmpegEncoder(f"{there.rtmp}/{key}"):
        installation.wait_connect(source, "Connected")
        assert installation.status(source)["gateway"] == "onair-ingest-1"
    here.start_server()
    here.start_gateway()


@pytest.mark.parametrize("how", ["restarts", "is killed"])
def test_an_srt_publisher_reconnects_to_another_pod_and_players_find_it_there(
    installation: IngestInstallation, tmp_path: Path, how: str
) -> None:
    source = installation.source(srtPush={"enabled": True})
    here, there = installation.pod, installation.other_pod
    stream_id, log = source["address"]["srtPush"]["streamId"], tmp_path / "publisher.log"

    def claims_nothing() -> bool:
        status = installation.status(source)
        return bool(status["connect"] == "Disconnected" or status["gateway"] == PODS[1])

    with contextlib.ExitStack() as stack:
        network = stack.enter_context(Network(here.rtmp_port, here.srt_port))
        url = f"srt://127.0.0.1:{network.udp_port}?streamid={stream_id}"
        publisher = stack.enter_context(SrtLiveTransmit(url, log))
        assert installation.wait_connect(source, "Connected")["gateway"] == PODS[0], log.read_text()
        player = installation.player(source)
        assert frames(player) > 20
        network.lead_to(there.rtmp_port, there.srt_port)
        beside = stack.enter_context(ThreadPoolExecutor())
        known = beside.submit(wait_for, claims_nothing, "the source is not told where it was", TRUE_WITHIN_S)
        # Here and not beside: children end with the thread that has started them
        here.restart() if how == "restarts" else here.crash()
        known.result()
        status = installation.wait_connect(source, "Connected")
        assert status["gateway"] == PODS[1]
        assert frames(player) > 20
        assert publisher.runs, log.read_text()
    if how == "is killed":
        here.start_server()
        here.start_gateway()


def frames(player: str) -> int:
    """How many frames of the next second decode."""
    command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-i", player, "-t", "1"]
    command += ["-progress", "pipe:1", "-f", "null", "-"]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=40)
    return max(int(line[6:]) for line in run.stdout.splitlines() if line.startswith("frame="))


def key_of(source: JsonObject) -> str:
    """The stream key of a source by RTMP."""
    return str(source["address"]["rtmpPush"]["key"])


def refused(reason: str) -> str:
    """The metric of publishers by RTMP that were refused for a reason."""
    return f'onair_ingest_refused_total{{protocol="rtmp",reason="{reason}"}}'
