"""A page that takes all it can get costs another show of the same node some late frames, and no more."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.support.cluster import PROBE, LocalCluster, address
from tests.support.encoder_metrics import metric, wait_reduced
from tests.support.ingest.pod_page import URL, page_in_pod
from tests.support.media import probe
from tests.support.receiver import GapMonitor, ReceiverClient, read_url
from tests.support.shows import LiveShow

RECORDED_S = 15.0
MORE_BESIDE_PERCENT, MORE_CONFINED_PERCENT = 20.0, 7.0
"""Of the frames of 10 s, beyond those missed beside a calm page. While the page begins: no more than two
seconds, which it takes to be confined; on two cores 1 to 13 are measured. Once it is: 1 to 3. Where nobody
confines it, it is 15 to 29, for ever."""
GREEDY = """<!doctype html><style>html {background: #fff}</style><script>
if (location.search) {
  const burn = new Blob(['for (;;);'], {type: 'text/javascript'}), kept = [];
  for (let i = 0; i < 8; i++) new Worker(URL.createObjectURL(burn));
  setInterval(() => kept.push(new Uint8Array(4 << 20).fill(1)), 20);
}
</script>"""
"""With a query: every core, and memory until it is ended, again and again."""


@pytest.fixture
def one_node(cluster: LocalCluster) -> Iterator[None]:
    with cluster.one_node():
        yield


def test_another_show_goes_on_beside_a_page_that_takes_all_it_can_get(
    one_node: None,
    make_show: Callable[..., LiveShow],
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    tmp_path: Path,
    record: Callable[..., None],
) -> None:
    def started(key: str, *page: str) -> LiveShow:
        show = make_show(*page)
        show.add_destination(**address(key))
        show.start()
        return show

    def missed_percent() -> float:
        return probe.analyse(probe.record(read_url(path), RECORDED_S, tmp_path)).missing_percent

    # Painted once for each frame while it can be, which is when it has most to lose
    calm = started(path, f"{PROBE}?time-based")
    calm.wait_phase("RUNNING")
    receiver.wait_ready(path, 60)
    pods = [cluster.until("its pod", partial(cluster.running_pod, calm.project))]
    reduced = wait_reduced(cluster, pods[0])
    hostile = started(f"{path}-hostile", URL)
    pods.append(cluster.until("its pod", partial(cluster.running_pod, hostile.project)))
    assert len({cluster.get("pod", each)["spec"]["nodeName"] for each in pods}) == 1
    with page_in_pod(cluster, pods[1], GREEDY):
        receiver.wait_ready(f"{path}-hostile", 60)
        hostile.wait_phase("RUNNING")
        reduced = reduced and wait_reduced(cluster, pods[0])
        before = missed_percent()
        with GapMonitor(receiver, path) as gap:
            page = {"spec": {"composition": {"external": {"url": f"{URL}?greedy"}}}}
            cluster.shows("patch", "project", hostile.project, "--type=merge", f"--patch={json.dumps(page)}")
            beside = missed_percent()
            cluster.until("the browser is confined", lambda: metric(cluster, pods[1], "browser_confined"))
            confined = statistics.mean(missed_percent() for _ in range(2))
    record(
        reduced=reduced,
        missed_before_percent=before,
        missed_beside_percent=beside,
        missed_beside_confined_percent=confined,
        media_gap_s=gap.longest_s,
    )
    assert not gap.reconnected
    assert beside <= before + MORE_BESIDE_PERCENT
    assert confined <= before + MORE_CONFINED_PERCENT
