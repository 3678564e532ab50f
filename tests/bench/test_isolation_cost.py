"""What isolation costs: Chromium's sandbox and rules of the pod's network, beside the same without both."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker, own_image
from tests.support.pages import probe_page
from tests.support.pod_pair import LOCKED_DOWN, NO_MORE, SECCOMP, PodPair, programme

from onair_crds.contract.page_network import VARIABLE, PageNetwork
from onair_crds.contract.pod import SANDBOX_VARIABLE, SandboxMode
from onair_crds.contract.program import ProgramVideo

PARTS = ("browser", "encoder")
STARTS = 12
LOADS = 6
COMPARED = ("all", "none")
ROUNDS, ROUND_S, SETTLE_S = 5, 20.0, 5.0
START = """
import asyncio, json, sys, time
from onair_encoder.browser.chromium import Chromium
async def start():
    chromium, began = Chromium(), time.monotonic()
    try:
        await chromium.start()
        await chromium.navigate(sys.argv[1])
        return time.monotonic() - began
    finally:
        await chromium.stop()
print(json.dumps(asyncio.run(start())))
"""
CPU = "print(open('/sys/fs/cgroup/cpuacct/cpuacct.usage').read())"
CPU_V2 = "print(open('/sys/fs/cgroup/cpu.stat').read().split()[1] + '000')"


class Isolation(NamedTuple):
    """What a pod's page is held by."""

    sandbox: SandboxMode
    rules: PageNetwork | None

    def pod(self, folder: Path) -> PodPair:
        folder.mkdir()
        options = ["-e", f"{SANDBOX_VARIABLE}={self.sandbox.value}", *SECCOMP]
        return PodPair(folder, sandbox=options, page_network=self.rules)


ISOLATIONS = {
    "all": Isolation(SandboxMode.SECCOMP, NO_MORE),
    "network rules alone": Isolation(SandboxMode.NONE, NO_MORE),
    "none": Isolation(SandboxMode.NONE, None),
}


@pytest.fixture
def page() -> Iterator[str]:
    with probe_page() as address:
        yield address


def start_s(pair: PodPair, page: str) -> float:
    """A second browser's in a pod that shows nothing, until it has painted a page."""
    found: float = json.loads(
        docker("exec", f"{pair.name}-browser", "python3", "-c", START, page).splitlines()[-1]
    )
    return found


def cpu_s(pair: PodPair, part: str) -> float:
    """Of a container since it began."""
    script = f"import os\nif os.path.exists('/sys/fs/cgroup/cpuacct'): {CPU}\nelse: {CPU_V2}"
    return int(docker("exec", f"{pair.name}-{part}", "python3", "-c", script)) / 1e9


def test_start_of_a_browser(tmp_path: Path, page: str, report: Callable[..., float]) -> None:
    """In turns, in a pod for each."""
    with ExitStack() as running:
        pairs = []
        for name, isolation in ISOLATIONS.items():
            pair = running.enter_context(isolation.pod(tmp_path / name))
            pair.wait_agent()
            pair.allow(urlsplit(page).netloc)
            start_s(pair, page)
            pairs.append(pair)
        starts = [[start_s(pair, page) for pair in pairs] for _ in range(STARTS)]
    for name, samples in zip(ISOLATIONS, zip(*starts, strict=True), strict=True):
        report(f"start of a browser until its page has painted, isolation: {name}", [*samples], "s")
    extra_ms = report(
        "start of a browser, with all isolation beside none",
        [(with_all - without) * 1000 for with_all, *_, without in starts],
        "ms",
        150,
    )
    assert extra_ms < 300


def test_what_a_cold_pod_waits_for(tmp_path: Path, report: Callable[..., float]) -> None:
    """The container that loads the rules, from its creation to its end, and one that does nothing."""
    with PodPair(tmp_path) as pair:
        network = ("run", "--rm", "--network", f"container:{pair.name}-browser", "--user", "0:0")
        options = (*network, *LOCKED_DOWN, "--cap-add=NET_ADMIN", "-e", f"{VARIABLE}={NO_MORE.text()}")
        commands = {
            "loads the rules": (*options, pair.image, "network"),
            "does nothing": (*options, "--entrypoint", "/bin/true", pair.image),
        }
        for what, command in commands.items():
            samples = []
            for _ in range(LOADS):
                began = time.monotonic()
                docker(*command)
                samples.append(time.monotonic() - began)
            report(f"isolation of a cold pod: a container that {what}", samples, "s")


def test_cpu_of_a_pod(tmp_path: Path, page: str, report: Callable[..., float]) -> None:
    """Of two pods at the same time, so that all else on the machine is the same for both."""
    video = ProgramVideo(
        width=1280, height=720, framerate=30, bitrate_bps=3_000_000, keyframe_interval_frames=60
    )
    with ExitStack() as running:
        far_end = running.enter_context(RtmpContainer(own_image("mediamtx")))
        pairs = []
        for name in COMPARED:
            pair = running.enter_context(ISOLATIONS[name].pod(tmp_path / name))
            pair.wait_agent()
            pair.put(programme(page, far_end, f"cpu-{name}", video=video)).raise_for_status()
            assert not pair.wait_phase("running", 60).on_slate
            pairs.append(pair)
        time.sleep(SETTLE_S)
        rounds = []
        for _ in range(ROUNDS):
            before = [used_s(pair) for pair in pairs]
            time.sleep(ROUND_S)
            rounds.append(
                [
                    [(now - then) / ROUND_S for now, then in zip(used_s(pair), used, strict=True)]
                    for pair, used in zip(pairs, before, strict=True)
                ]
            )
    for index, part in enumerate(PARTS):
        for at, name in enumerate(COMPARED):
            samples = [each[at][index] for each in rounds]
            report(f"CPU of the {part}'s container, 1280×720@30, isolation: {name}", samples, "core")
    ratio = report(
        "CPU of a pod, with all isolation ÷ none",
        [sum(with_all) / sum(without) for with_all, without in rounds],
        "×",
        1.02,
    )
    assert ratio < 1.04


def used_s(pair: PodPair) -> list[float]:
    return [cpu_s(pair, part) for part in PARTS]
