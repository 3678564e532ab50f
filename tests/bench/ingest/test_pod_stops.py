"""Measures how soon a source says that its ingest pod has gone, and is connected again at another one.

The publishers reconnect by themselves; a network leads them to the other pod, as a Service does.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.ingest.ingest_installation import PODS, IngestInstallation
from tests.support.ingest.network import Network
from tests.support.ingest.publishers import FfmpegThatReconnects, PipelinePublisher, SrtLiveTransmit
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

ROUNDS = 4
BOUND_S = 3.0


@pytest.mark.parametrize("how", ["stopped", "killed"])
@pytest.mark.parametrize("protocol", ["rtmp", "srt"])
def test_a_publisher_whose_pod_ends(
    installation: IngestInstallation, report: Callable[..., float], tmp_path: Path, protocol: str, how: str
) -> None:
    source = installation.source(**{f"{protocol}Push": {"enabled": True}})
    told, again = [], []
    pods = dict(zip(PODS, (installation.pod, installation.other_pod), strict=True))
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(Network(installation.pod.rtmp_port, installation.pod.srt_port))
        log = tmp_path / "publisher.log"
        stack.enter_context(publisher(network, source, protocol, log))
        beside = stack.enter_context(ThreadPoolExecutor())
        for _ in range(ROUNDS):
            name = installation.wait_connect(source, "Connected")["gateway"]
            here = pods[name]
            (there,) = (pod for other, pod in pods.items() if other != name)
            network.lead_to(there.rtmp_port, there.srt_port)

            def claims_nothing(name: str = name) -> bool:
                status = installation.status(source)
                return bool(status["connect"] == "Disconnected" or status["gateway"] != name)

            def connected(name: str = name) -> bool:
                status = installation.status(source)
                return bool(status["connect"] == "Connected" and status["gateway"] != name)

            def watched(
                claims_nothing: Callable[[], bool] = claims_nothing, connected: Callable[[], bool] = connected
            ) -> tuple[float, float]:
                wait_for(claims_nothing, "the source says that its pod has gone")
                told_at_s = time.monotonic()
                wait_for(connected, log.read_text())
                return told_at_s, time.monotonic()

            # Children end with the thread that has started them
            watching = beside.submit(watched)
            ended_at_s = here.stop() if how == "stopped" else here.crash()
            told_at_s, again_at_s = watching.result()
            told.append(told_at_s - ended_at_s)
            again.append(again_at_s - ended_at_s)
            here.start_server()
            here.start_gateway()
    report(f"ingest pod {how} → its source by {protocol.upper()} says so", told, "s", BOUND_S)
    report(f"ingest pod {how} → connected at another one, {protocol.upper()}", again, "s")


def publisher(network: Network, source: JsonObject, protocol: str, log: Path) -> PipelinePublisher:
    if protocol == "rtmp":
        key = source["address"]["rtmpPush"]["key"]
        return FfmpegThatReconnects(f"rtmp://127.0.0.1:{network.tcp_port}/live/{key}", log)
    stream_id = source["address"]["srtPush"]["streamId"]
    return SrtLiveTransmit(f"srt://127.0.0.1:{network.udp_port}?streamid={stream_id}", log)
