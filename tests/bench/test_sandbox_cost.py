"""What Chromium's sandbox costs: its start, and CPU while a page is shown, beside the same without it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker, own_image
from tests.support.pages import probe_page
from tests.support.pod_pair import SECCOMP, PodPair, programme

from onair_crds.contract.pod import SANDBOX_VARIABLE, SandboxMode
from onair_crds.contract.program import ProgramVideo

PARTS = ("browser", "encoder")
MODES = (SandboxMode.SECCOMP, SandboxMode.NONE)
STARTS = 12
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


@pytest.fixture
def page() -> Iterator[str]:
    with probe_page() as address:
        yield address


def start_s(pair: PodPair, mode: SandboxMode, page: str) -> float:
    """A second browser's in a pod that shows nothing, until it has painted a page."""
    variable = f"{SANDBOX_VARIABLE}={mode.value}"
    found: float = json.loads(
        docker("exec", "-e", variable, f"{pair.name}-browser", "python3", "-c", START, page).splitlines()[-1]
    )
    return found


def cpu_s(pair: PodPair, part: str) -> float:
    """Of a container since it began."""
    script = f"import os\nif os.path.exists('/sys/fs/cgroup/cpuacct'): {CPU}\nelse: {CPU_V2}"
    return int(docker("exec", f"{pair.name}-{part}", "python3", "-c", script)) / 1e9


def test_start_of_a_browser(tmp_path: Path, page: str, report: Callable[..., float]) -> None:
    """In turns, in one container."""
    with PodPair(tmp_path) as pair:
        pair.wait_agent()
        pair.allow(urlsplit(page).netloc)
        for mode in MODES:
            start_s(pair, mode, page)
        starts = [[start_s(pair, mode, page) for mode in MODES] for _ in range(STARTS)]
    for mode, samples in zip(MODES, zip(*starts, strict=True), strict=True):
        report(f"start of a browser until its page has painted, sandbox {mode.value}", [*samples], "s")
    extra_ms = report(
        "start of a browser, with the sandbox beside without",
        [(with_sandbox - without) * 1000 for with_sandbox, without in starts],
        "ms",
        150,
    )
    assert extra_ms < 300


def test_cpu_of_a_pod(tmp_path: Path, page: str, report: Callable[..., float]) -> None:
    """Of two pods at the same time, so that all else on the machine is the same for both."""
    video = ProgramVideo(
        width=1280, height=720, framerate=30, bitrate_bps=3_000_000, keyframe_interval_frames=60
    )
    with ExitStack() as running:
        far_end = running.enter_context(RtmpContainer(own_image("mediamtx")))
        pairs = []
        for mode in MODES:
            (folder := tmp_path / mode.value).mkdir()
            options = ["-e", f"{SANDBOX_VARIABLE}={mode.value}", *SECCOMP]
            pair = running.enter_context(PodPair(folder, sandbox=options))
            pair.wait_agent()
            pair.put(programme(page, far_end, f"cpu-{mode.value}", video=video)).raise_for_status()
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
        for at, mode in enumerate(MODES):
            samples = [each[at][index] for each in rounds]
            report(f"CPU of the {part}'s container, 1280×720@30, sandbox {mode.value}", samples, "core")
    ratio = report(
        "CPU of a pod, with the sandbox ÷ without",
        [sum(with_sandbox) / sum(without) for with_sandbox, without in rounds],
        "×",
        1.02,
    )
    assert ratio < 1.04


def used_s(pair: PodPair) -> list[float]:
    return [cpu_s(pair, part) for part in PARTS]
