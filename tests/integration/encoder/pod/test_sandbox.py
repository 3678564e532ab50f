"""Pages run in Chromium's own sandbox, by the profile of the chart; without it nothing runs unsaid."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker
from tests.support.pod_pair import SECCOMP, PodPair, programme
from tests.support.renderers import Renderer, renderers

from onair_crds.contract.pod import SANDBOX_VARIABLE

pytestmark = pytest.mark.media


def renderers_of(pair: PodPair) -> list[Renderer]:
    return renderers(lambda *command: docker("exec", f"{pair.name}-browser", *command))


def mode(name: str, profile: Sequence[str] = ()) -> list[str]:
    return ["-e", f"{SANDBOX_VARIABLE}={name}", *profile]


@contextmanager
def showing(folder: Path, page: str, far_end: RtmpContainer, sandbox: Sequence[str]) -> Iterator[PodPair]:
    with PodPair(folder, sandbox=sandbox) as pair:
        pair.wait_agent()
        pair.put(programme(page, far_end, page_timeout_ms=500)).raise_for_status()
        yield pair


@pytest.mark.parametrize("name", ["seccomp", "runtimeClass"])
def test_renderers_are_in_namespaces_and_under_a_filter_of_their_own(
    name: str, tmp_path: Path, page: str, far_end: RtmpContainer
) -> None:
    with showing(tmp_path, page, far_end, mode(name, SECCOMP)) as pair:
        pair.wait_for(lambda: pair.status().phase == "running" and not pair.status().on_slate, "shown", 20)
        found = renderers_of(pair)
        assert found
        assert all(each.is_sandboxed for each in found)


def test_a_sandbox_that_cannot_start_is_said_and_nothing_runs_without(
    tmp_path: Path, page: str, far_end: RtmpContainer
) -> None:
    with showing(tmp_path, page, far_end, mode("seccomp")) as pair:
        pair.wait_for(lambda: "sandbox cannot start" in (pair.status().composition_error or ""), "said", 20)
        assert pair.status().composition_error == (
            "Chromium's sandbox cannot start: there can be no user namespaces (EPERM): the container's"
            " seccomp profile, AppArmor or kernel.unprivileged_userns_clone refuses them"
        )
        assert renderers_of(pair) == []
        pair.wait_for(lambda: pair.status().on_slate, "the slate", 20)
        assert "chromium.not-started" in pair.logs("browser")


@pytest.mark.parametrize(
    ("name", "reason"), [("none", "not wanted"), ("runtimeClass", "there can be no user namespaces")]
)
def test_without_its_own_sandbox_chromium_runs_only_where_a_value_says_so(
    name: str, reason: str, tmp_path: Path, page: str, far_end: RtmpContainer
) -> None:
    with showing(tmp_path, page, far_end, mode(name)) as pair:
        pair.wait_for(lambda: pair.status().phase == "running" and not pair.status().on_slate, "shown", 20)
        found = renderers_of(pair)
        assert found
        assert {(each.namespaces, each.filters) for each in found} == {(1, 1)}
        (said,) = [json.loads(each) for each in pair.logs("browser").splitlines() if '"sandbox.off"' in each]
        assert said["mode"] == name
        assert said["reason"].startswith(reason)
