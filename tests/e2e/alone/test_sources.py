"""What an encoder pushes to the addresses of `make up` reaches a show, and what the show is sent to.

The network enforces policies meanwhile.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.cluster import LocalCluster, address
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.pod_page import URL, page_of_source
from tests.support.media import probe
from tests.support.receiver import ReceiverClient, read_url
from tests.support.shows import FacadeClient, LiveShow

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.usefixtures("policies")

CONNECT_S = 3.0
LATENCY_S = 3.0
"""From the push to the RTMP server, decoded: ingest, page, encode; the machine is shared by all of it."""


def add_source(facade: FacadeClient, collection: str, kind: str = "rtmpPush") -> JsonObject:
    made = facade.call("POST", f"/collection/{collection}/source", {"address": {kind: {"enabled": True}}})
    source: JsonObject = made["source"]
    return source


def connect_of(facade: FacadeClient, source: JsonObject) -> str:
    path = f"/collection/{source['collectionId']}/source/{source['sourceId']}"
    return str(facade.call("GET", path)["source"]["connect"])


@contextmanager
def pushed(clip: Path, url: str) -> Iterator[float]:
    """Pushes a clip in real time; gives when it began, in Unix milliseconds."""
    command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-re", "-i", str(clip), "-c", "copy", "-f", "flv"]
    with subprocess.Popen([*command, url]) as process:
        try:
            yield time.time() * 1000
        finally:
            process.kill()


def test_what_is_pushed_by_rtmp_is_on_the_page_and_at_the_rtmp_server(
    facade_client: FacadeClient,
    make_show: Callable[..., LiveShow],
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    clip: Path,
) -> None:
    show = make_show()
    # A page of the pod's own, which a test serves there, has a secure context
    page = {"spec": {"composition": {"external": {"url": URL}}}}
    cluster.shows("patch", "project", show.project, "--type=merge", f"--patch={json.dumps(page)}")
    source = add_source(facade_client, show.collection)
    facade_client.call("PUT", f"{show.path}/source/{source['sourceId']}", {})
    show.add_destination(**address(path))
    show.start()
    pod = cluster.until("the pod runs", lambda: cluster.running_pod(show.project))
    with page_of_source(cluster, pod, source["sourceId"]):
        receiver.wait_ready(path, 60)
        show.wait_phase("RUNNING")
        with pushed(clip, source["address"]["rtmpPush"]["url"]) as began_ms:
            cluster.until(
                "connected", lambda: connect_of(facade_client, source) == "CONNECT_STATE_CONNECTED", CONNECT_S
            )
            ages_ms = cluster.until(
                "the source's clock is read at the RTMP server",
                lambda: probe.live_latency_ms(read_url(path), frames=60),
            )
            late_s = (statistics.median(ages_ms) - began_ms) / 1000
            assert 0 < late_s < LATENCY_S, f"{late_s:.2f} s after it was pushed"
        cluster.until(
            "gone", lambda: connect_of(facade_client, source) == "CONNECT_STATE_DISCONNECTED", CONNECT_S
        )


def test_srt_is_pushed_to_the_address_of_this_machine(
    facade_client: FacadeClient, make_show: Callable[..., LiveShow], cluster: LocalCluster
) -> None:
    source = add_source(facade_client, make_show().collection, "srtPush")
    push = source["address"]["srtPush"]
    assert push["baseUrl"].startswith("srt://localhost:")
    with FfmpegEncoder(push["url"]):
        cluster.until("connected", lambda: connect_of(facade_client, source) == "CONNECT_STATE_CONNECTED", 10)


def test_a_wrong_key_is_refused(
    facade_client: FacadeClient, make_show: Callable[..., LiveShow], cluster: LocalCluster
) -> None:
    source = add_source(facade_client, make_show().collection)
    with FfmpegEncoder(f"{source['address']['rtmpPush']['baseUrl']}/nobodys") as encoder:
        assert encoder.ends() != 0
    assert connect_of(facade_client, source) == "CONNECT_STATE_DISCONNECTED"
