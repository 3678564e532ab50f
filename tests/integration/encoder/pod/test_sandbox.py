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

from onair_crds.contract.pod import SANDBOX_VARIABLE

pytestmark = pytest.mark.media

RENDERERS = """
import json, pathlib
found = []
for process in pathlib.Path('/proc').glob('[0-9]*'):
    try:
        line = (process / 'cmdline').read_text()
        status = dict(each.split(':', 1) for each in (process / 'status').read_text().splitlines())
    except OSError:
        continue
    if line.startswith('/usr/lib/chromium/') and '--type=renderer' in line:
        found.append({'depth': len(status['NSpid'].split()), 'filters': int(status['Seccomp_filters']),
                      'capabilities': int(status['CapEff'], 16), 'asks': '--no-sandbox' not in line})
print(json.dumps(found))
"""


def renderers(pair: PodPair) -> list[dict[str, int]]:
    """Of the browser's container: how many namespaces of processes deep, under how many seccomp filters."""
    found: list[dict[str, int]] = json.loads(
        docker("exec", f"{pair.name}-browser", "python3", "-c", RENDERERS)
    )
    return found


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
        found = renderers(pair)
        assert found
        # The container's, the zygote's and its own; the container's filter, and Chromium's
        assert {each["depth"] for each in found} == {3}
        assert min(each["filters"] for each in found) >= 2
        assert {each["capabilities"] for each in found} == {0}
        assert all(each["asks"] for each in found)


def test_a_sandbox_that_cannot_start_is_said_and_nothing_runs_without(
    tmp_path: Path, page: str, far_end: RtmpContainer
) -> None:
    with showing(tmp_path, page, far_end, mode("seccomp")) as pair:
        pair.wait_for(lambda: "sandbox cannot start" in (pair.status().composition_error or ""), "said", 20)
        assert pair.status().composition_error == (
            "Chromium's sandbox cannot start: there can be no user namespaces (EPERM): the container's"
            " seccomp profile, AppArmor or kernel.unprivileged_userns_clone refuses them"
        )
        assert renderers(pair) == []
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
        found = renderers(pair)
        assert found
        assert {(each["depth"], each["filters"]) for each in found} == {(1, 1)}
        (said,) = [json.loads(each) for each in pair.logs("browser").splitlines() if '"sandbox.off"' in each]
        assert said["mode"] == name
        assert said["reason"].startswith(reason)
