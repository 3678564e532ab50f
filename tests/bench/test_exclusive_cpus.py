"""What a show misses beside a page that takes every CPU, on CPUs that it shares and on ones of its own.

Docker gives containers CPUs by the same means (cpusets) as a kubelet whose CPU manager is static. Here both
containers of a pod are on half of the CPUs together, as two CPUs are too few for one each. So the shows are
small, and beside a calm page none is short of CPU.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker, own_image
from tests.support.media import probe
from tests.support.own_cpus import keep_on
from tests.support.pages import probe_page, site
from tests.support.pod_pair import PodPair, programme

RECORDED_S, RECORDINGS = 10.0, 5
REDUCED_S = 15.0
"""By then a calm page is painted once for each frame, which is when it has most to lose."""
CONFINED_S = 5.0
MISSED_BOUND = 0.5
"""Percent of frames beyond those beside a calm page."""
BURNS = b"""<!doctype html><script>
const burn = new Blob(['for (;;);'], {type: 'text/javascript'});
for (let i = 0; i < 4 * navigator.hardwareConcurrency; i++) new Worker(URL.createObjectURL(burn));
</script>"""
PAGES = {"/calm": ("text/html", b"<!doctype html>"), "/burns": ("text/html", BURNS)}


@contextlib.contextmanager
def others_on(cpus: Sequence[int], far_end: RtmpContainer) -> Iterator[None]:
    """Has this process, what it starts, and the server of streams on these CPUs, and wait for nobody."""
    before = sorted(os.sched_getaffinity(0))
    docker("update", f"--cpuset-cpus={','.join(map(str, cpus))}", far_end.name)
    server = int(docker("inspect", "--format={{.State.Pid}}", far_end.name))
    for each in (os.getpid(), server):
        keep_on(each, cpus, in_time=True)
    try:
        yield
    finally:
        keep_on(os.getpid(), before, in_time=False)


@pytest.mark.parametrize("exclusive", [False, True], ids=["shared CPUs", "CPUs of its own"])
def test_a_show_beside_a_page_that_takes_every_cpu(
    tmp_path: Path, report: Callable[..., float], exclusive: bool
) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    mine, rest = (cpus[: len(cpus) // 2], cpus[len(cpus) // 2 :]) if exclusive else (cpus, cpus)
    assert mine, "one CPU cannot be divided"
    name = "with CPUs of its own" if exclusive else "on shared CPUs"
    with ExitStack() as running:
        far_end = running.enter_context(RtmpContainer(own_image("mediamtx")))
        running.enter_context(others_on(rest, far_end))
        probed = running.enter_context(probe_page())
        pages = running.enter_context(site(PAGES))
        for each in ("show", "other"):
            (tmp_path / each).mkdir()
        show = running.enter_context(PodPair(tmp_path / "show", cpus=mine))
        other = running.enter_context(PodPair(tmp_path / "other", cpus=rest))
        for pair, page in ((show, f"{probed}?time-based"), (other, f"{pages}/calm")):
            pair.wait_agent()
            pair.put(programme(page, far_end, pair.name)).raise_for_status()
            assert not pair.wait_phase("running", 60).on_slate

        def recorded(when: str) -> list[probe.RecordedFile]:
            folders = [tmp_path / f"{when}-{number}" for number in range(RECORDINGS)]
            for folder in folders:
                folder.mkdir()
            return [probe.record(far_end.read_url(show.name), RECORDED_S, each) for each in folders]

        time.sleep(REDUCED_S)
        calm = recorded("calm")
        other.put(programme(f"{pages}/burns", far_end, other.name)).raise_for_status()
        time.sleep(CONFINED_S)
        busy = recorded("busy")
    before, beside = ([probe.analyse(each).missing_percent for each in of] for of in (calm, busy))
    report(f"show {name}: frames missed beside a calm page", before, "%")
    missed = report(
        f"show {name}: frames missed beside a page that takes every CPU", beside, "%", MISSED_BOUND
    )
    beyond = statistics.mean(beside) - statistics.mean(before)
    report(f"show {name}: frames missed beyond those beside a calm page", [beyond], "%", MISSED_BOUND)
    if exclusive:
        assert min(missed, beyond) < 2 * MISSED_BOUND
