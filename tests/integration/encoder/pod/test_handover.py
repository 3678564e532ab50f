"""A pod that is replaced or deleted: its streams are closed at once, or ended as the operator wants."""

from __future__ import annotations

import subprocess

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.pod_pair import PodPair, programme

pytestmark = pytest.mark.media


def publish(pair: PodPair, page: str, far_end: RtmpContainer, key: str) -> None:
    pair.put(programme(page, far_end, key))
    pair.wait_connected(key)
    far_end.wait_publisher(key)


def replace(pair: PodPair) -> int:
    """Tells the pod that another one takes its place; the status of the response."""
    return pair.http.put("/v1/contact", content=b'{"replaced": true}', headers=pair.token()).status_code


def is_running(pair: PodPair) -> bool:
    state = ["docker", "inspect", "--format", "{{.State.Running}}", f"{pair.name}-encoder"]
    return subprocess.run(state, check=True, capture_output=True, text=True).stdout.strip() == "true"


def terminate(pair: PodPair) -> None:
    """What a kubelet does first to a container that is to end."""
    subprocess.run(["docker", "kill", "-s", "TERM", f"{pair.name}-encoder"], check=True, capture_output=True)


def test_a_pod_that_yields_closes_its_streams_and_stays_away(
    pair: PodPair, page: str, far_end: RtmpContainer
) -> None:
    publish(pair, page, far_end, "yields")
    assert replace(pair) == 204
    pair.wait_for(lambda: not far_end.path("yields"), "closed")
    assert pair.kill("encoder", "onair_encoder agent")
    pair.wait_agent()
    assert pair.status().phase == "yielded"
    assert pair.put(programme(page, far_end, "yields")).status_code == 409
    assert not far_end.path("yields")
    assert not (pair.folder / "program/program.json").exists()


def test_a_pod_that_is_deleted_ends_its_streams_as_the_operator_wants(
    pair: PodPair, page: str, far_end: RtmpContainer
) -> None:
    publish(pair, page, far_end, "deleted")
    terminate(pair)
    assert pair.put(programme(page, far_end, "deleted", stop=True)).status_code == 200
    pair.wait_for(lambda: not is_running(pair), "ended")
    assert pair.logged("program.finished") == 1
    assert not far_end.path("deleted")
