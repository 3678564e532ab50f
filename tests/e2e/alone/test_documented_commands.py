"""Every command of README and guides in the local cluster, in the order of the pages.

The scene has a camera, encoded in real time beside its show, which leaves nothing of two cores for others.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.cluster import LocalCluster
from tests.support.documented_commands import GUIDE, ROOT, TESTED, run, script

COLLECTION = "sunday-service"
SEND = (ROOT / "docs/guide/send.md").read_text()
LOCAL = dict(re.findall(r"`(rtmp|srt)://(localhost:\d+)", SEND))
"""Where the local cluster is sent to, as the guide says."""
WAYS = ("rtmp", "srt")
ARRIVES = re.compile(r"H\.264 640×360@30, AAC 48 kHz stereo")
"""The clip, as a source's row has it."""


def is_not_for_this_cluster(command: str) -> bool:
    """What prepares the shell, which the test's is, and what installs or tests OnAir as a whole."""
    return command.startswith(("make", "eval", "helm install"))


@pytest.mark.parametrize("page", TESTED, ids=str)
def test_every_command_of_a_page_succeeds(page: Path, cluster: LocalCluster, tmp_path: Path) -> None:
    try:
        run(script(page, is_not_for_this_cluster), tmp_path, {}, timeout_s=300)
        if page == GUIDE:
            assert (tmp_path / "now.jpg").read_bytes().startswith(b"\xff\xd8")
    finally:
        cluster.delete_collection(COLLECTION)


@pytest.fixture
def camera(cluster: LocalCluster) -> Iterator[str]:
    """The source of the example, by its name, in its collection."""
    collection, *_ = (ROOT / "examples/show.yaml").read_text().split("\n---\n")
    cluster.kubectl("apply", "-f", "-", input=collection)
    cluster.kubectl("apply", "-f", str(ROOT / "examples/source.yaml"))
    yield "camera-1"
    cluster.shows("delete", "source", "camera-1")
    cluster.delete_collection(COLLECTION)


def test_a_source_is_sent_to_and_looked_at_as_the_guide_says(
    cluster: LocalCluster, camera: str, clip: Path, tmp_path: Path
) -> None:
    def listed(connect: str) -> str:
        rows = told("kubectl get sources -n").splitlines()
        return next((row for row in rows if row.startswith(camera) and connect in row.split()), "")

    def told(start: str) -> str:
        command = re.findall(rf"`({start}[^`]*)`", SEND)[0].replace(r"\|", "|")
        return run(command, tmp_path, {})

    server = cluster.until("its address", lambda: told("kubectl get source camera"), 10)
    assert server == f"rtmp://{LOCAL['rtmp']}/live"
    refused = f"a second publisher tried the key of {camera}"
    for way in WAYS:
        address = {**dict.fromkeys(f"{each}Push" for each in WAYS), f"{way}Push": {"enabled": True}}
        patch = json.dumps({"spec": {"address": address}})
        cluster.shows("patch", "source", camera, "--type=merge", f"--patch={patch}")
        key = told("kubectl get secret")
        with sending(way, key, clip):
            cluster.until("what arrives is told", lambda: ARRIVES.search(listed("Connected")), 15)
            with sending(way, key, clip) as second:
                assert second.wait(20) != 0
            cluster.until("it is told", lambda: refused in told("kubectl describe source"), 10)
        cluster.until("it is disconnected", lambda: listed("Disconnected"), 10)


@contextmanager
def sending(way: str, key: str, video: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs the guide's command of ffmpeg for RTMP or SRT."""
    of_ffmpeg = re.findall(r"(?m)^    (ffmpeg (?:.*\\\n)*.*)$", SEND)
    (command,) = [each for each in of_ffmpeg if f"{way}://HOST" in each]
    command = re.sub(r"HOST:\d+", LOCAL[way], command).replace("KEY", key).replace("VIDEO", str(video))
    program, *options = shlex.split(command.replace("\\\n", " "))
    with subprocess.Popen([program, "-loglevel", "error", "-nostdin", *options]) as process:
        try:
            yield process
        finally:
            process.kill()
