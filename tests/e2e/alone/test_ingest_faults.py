"""A show on air while ingest of its source dies or hangs: it goes on, and the source comes back by itself."""

from __future__ import annotations

import datetime as dt
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.support.cluster import SYSTEM, LocalCluster, address
from tests.support.fixtures.clip import CLIP_S
from tests.support.fixtures.figures import Record
from tests.support.media import probe
from tests.support.receiver import GapMonitor, ReceiverClient, read_url
from tests.support.shows import FacadeClient, LiveShow

from onair_crds.shapes import Document, JsonObject

RECORDED_S = 8.0
QUIET_S = 1.0
"""Upper bound of the gap of an uninterrupted stream, polled over HTTP on a busy machine."""
LATENCY_S = 3.0
"""From the push to the RTMP server, decoded; the machine is shared by all of it."""
TRUE_AGAIN_S = 3.0
RECONNECTED_S = 20.0
"""Until pods are there in place of the dead ones, and the publisher has found one of them."""


@contextmanager
def camera(clip: Path, url: str) -> Iterator[float]:
    """An encoder that reconnects by itself, as they do; gives when it began, in Unix milliseconds.

    When the clip is over it begins again.
    """
    command = ["ffmpeg", "-loglevel", "quiet", "-nostdin", "-re", "-stream_loop", "-1", "-i", str(clip)]
    command += ["-c", "copy", "-map", "0"]
    again = ["-attempt_recovery", "1", "-recover_any_error", "1", "-recovery_wait_time", "0.5"]
    # A connection to a pod that has just gone is answered by nobody
    again += ["-format_opts", "rw_timeout=5000000"]
    dropped = ["-drop_pkts_on_overflow", "1", "-restart_with_keyframe", "1"]
    with subprocess.Popen([*command, "-f", "fifo", "-fifo_format", "flv", *again, *dropped, url]) as process:
        try:
            yield time.time() * 1000
        finally:
            process.kill()


def shown_by_a_scene(facade: FacadeClient, show: LiveShow) -> JsonObject:
    """A new source, over all of a scene of the show's; its last picture remains while it is away."""
    made = facade.call("POST", f"/collection/{show.collection}/source", {"address": {"rtmpPush": {}}})
    source: JsonObject = made["source"]
    facade.call("PUT", f"{show.path}/source/{source['sourceId']}", {})

    layouts = "/layout/v2/layouts"
    scene = facade.http.post(layouts, json={"projectId": show.project, "type": "LAYOUT_TYPE_SCENE"})
    layers = f"{layouts}/{scene.raise_for_status().json()['id']}/layers"
    (root,) = facade.http.get(layers).raise_for_status().json()
    data = {"source": {"id": source["sourceId"]}, "onDisconnect": "remain"}
    layer = {"type": "source", "data": data, "parentId": root["id"]}
    facade.http.post(layers, json=layer).raise_for_status()
    return source


def status_of(cluster: LocalCluster, source: JsonObject) -> Document:
    status: Document = cluster.get("source", source["sourceId"]).get("status", {})
    return status


def is_connected(cluster: LocalCluster, source: JsonObject) -> bool:
    return status_of(cluster, source).get("connect") == "Connected"


def signal_gateway(cluster: LocalCluster, pod: str, signal: str) -> None:
    """Sends a signal to the gateway of an ingest pod, from outside of its container."""
    node = cluster.get("pod", pod, SYSTEM)["spec"]["nodeName"]
    # Brackets, so that the search does not find itself
    found = "grep -l '[o]nair_ingest' /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3"
    command = ["docker", "exec", node, "sh", "-c", f"kill -{signal} $({found})"]
    subprocess.run(command, check=True, capture_output=True)


def test_a_show_goes_on_while_all_ingest_is_killed_its_gateway_hangs_and_one_pod_stops(
    facade_client: FacadeClient,
    make_show: Callable[..., LiveShow],
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    clip: Path,
    tmp_path: Path,
    record: Record,
) -> None:
    show = make_show(composition={"scene": {}})
    source = shown_by_a_scene(facade_client, show)
    show.add_destination(**address(path))

    def shown_live(began_ms: float) -> bool:
        """Whether the source is seen at the RTMP server as it is now."""
        ages_ms = probe.live_latency_ms(read_url(path), frames=15)
        return bool(ages_ms) and (statistics.median(ages_ms) - began_ms) / 1000 % CLIP_S < LATENCY_S

    with ThreadPoolExecutor() as pool, camera(clip, source["address"]["rtmpPush"]["url"]) as began_ms:
        cluster.until("connected", lambda: is_connected(cluster, source), RECONNECTED_S)
        show.start()
        receiver.wait_ready(path, 60)
        show.wait_phase("RUNNING")
        cluster.until("the source is seen", lambda: shown_live(began_ms))
        pod = cluster.get("pod", cluster.encoder_pod(show.project))["metadata"]["uid"]

        with GapMonitor(receiver, path) as gap:
            recording = pool.submit(probe.record, read_url(path), RECORDED_S, tmp_path)
            killed_at = time.time()
            selector = "app.kubernetes.io/component=ingest"
            now = ("--grace-period=0", "--force", "--wait=false")
            cluster.kubectl("-n", SYSTEM, "delete", "pod", "-l", selector, *now)

            def connected_again() -> bool:
                status = status_of(cluster, source)
                since = dt.datetime.fromisoformat(status["since"]).timestamp()
                return status["connect"] == "Connected" and since > killed_at

            cluster.until("connected again", connected_again, RECONNECTED_S)
            connected_again_s = time.time() - killed_at
            cluster.until("the source is seen again", lambda: shown_live(began_ms), 10)
            killed = probe.analyse(recording.result())

            gateway = status_of(cluster, source)["gateway"]
            signal_gateway(cluster, gateway, "STOP")
            try:
                hangs_at = time.time()
                cluster.until("it is not known", lambda: not is_connected(cluster, source), TRUE_AGAIN_S * 2)
                unknown_s = time.time() - hangs_at
            finally:
                signal_gateway(cluster, gateway, "CONT")
            goes_on_at = time.time()
            cluster.until("connected still", lambda: is_connected(cluster, source), TRUE_AGAIN_S)
            true_again_s = time.time() - goes_on_at
            cluster.until("the source is seen once more", lambda: shown_live(began_ms), 10)

            stopped_at = time.time()
            cluster.kubectl("-n", SYSTEM, "delete", "pod", gateway, "--wait=false")

            def moved() -> bool:
                status = status_of(cluster, source)
                return bool(status["connect"] == "Connected" and status["gateway"] != gateway)

            cluster.until("connected at another pod", moved, RECONNECTED_S)
            moved_s = time.time() - stopped_at
            cluster.until("the source is seen from there", lambda: shown_live(began_ms), 10)
        record(
            media_gap_s=gap.longest_s,
            video_hole_s=killed.video_hole_max_s,
            audio_hole_s=killed.audio_hole_max_s,
            connected_again_s=connected_again_s,
            unknown_s=unknown_s,
            true_again_s=true_again_s,
            moved_s=moved_s,
        )
        assert gap.certain_s < QUIET_S
        assert killed.undecodable_percent == 0, "the last picture remains"
        assert max(killed.video_hole_max_s, killed.audio_hole_max_s) < 0.2
        assert cluster.get("pod", cluster.encoder_pod(show.project))["metadata"]["uid"] == pod
