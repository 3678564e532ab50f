"""Two shows on air on one node, of which one has hostile pages, and what viewers of both see meanwhile."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from uuid import uuid4

from tests.support.browser_watch import BrowserWatch, TakenByBrowser
from tests.support.cluster import PROBE, SHOWS, SYSTEM, LocalCluster, address
from tests.support.encoder_metrics import wait_reduced
from tests.support.hostile_site import HostileSite
from tests.support.media import painted, probe
from tests.support.media.stream import gray_frames, is_slate
from tests.support.receiver import ReceiverClient, read_url, rtsp_url
from tests.support.shows import LiveShow

RECORDED_S = 8.0
WIDTH, HEIGHT = 640, 360
CALM = f"{PROBE}?time-based"
"""Painted once for each frame while it can be, which is when a show has most to lose."""
PAGE, SLATE, BLACK, OTHER = "page", "slate", "black", "other"
WHITE_FROM, BLACK_TO = 225, 40


@dataclass(frozen=True)
class SeenOfBoth:
    """What came of both shows in `RECORDED_S`."""

    missed_percent: float
    """Of the calm show's frames."""
    own: list[tuple[str, int]]
    """The hostile show's: what so many in a row were. `PAGE` is all white, `OTHER` none of these."""
    taken: TakenByBrowser
    """The most that the hostile show's browser took meanwhile."""

    def frames(self, *kinds: str) -> int:
        return sum(count for kind, count in self.own if kind in kinds or not kinds)

    def longest(self, kind: str) -> int:
        return max((count for each, count in self.own if each == kind), default=0)


class NeighbouringShows:
    def __init__(
        self, cluster: LocalCluster, receiver: ReceiverClient, make: Callable[..., LiveShow], folder: Path
    ) -> None:
        """Puts both on air.

        Args:
            folder: for what is recorded.
        """
        self._cluster, self._receiver, self._folder = cluster, receiver, folder
        self._paths = [f"live/{uuid4().hex[:12]}-{each}" for each in ("calm", "hostile")]
        shows = [self._started(make, path) for path in self._paths]
        self._project = shows[1].project
        calm, self._pod = [self._pod_of(each) for each in shows]
        (self._node,) = {cluster.get("pod", each)["spec"]["nodeName"] for each in (calm, self._pod)}
        self.reduced = wait_reduced(cluster, calm)
        """Whether the calm show is painted once for each frame, as it begins."""

    def _started(self, make: Callable[..., LiveShow], path: str) -> LiveShow:
        show = make(CALM)
        show.add_destination(**address(path))
        show.start()
        self._receiver.wait_ready(path, 60)
        show.wait_phase("RUNNING")
        return show

    def _pod_of(self, show: LiveShow) -> str:
        return str(self._cluster.until("its pod", lambda: self._cluster.running_pod(show.project)))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Serves `site` in the hostile show's pod, and looks at what its browser takes."""
        within = ("-n", SHOWS, "exec", "-i", self._pod, "-c")
        kubectl = [str(self._cluster.kubectl_path), *within]
        environment = {**os.environ, "KUBECONFIG": str(self._cluster.kubeconfig_path)}
        with ExitStack() as parts:
            self.site = parts.enter_context(HostileSite([*kubectl, "encoder", "--"], environment))
            self._watch = parts.enter_context(BrowserWatch([*kubectl, "browser", "--"], environment))
            yield

    def observe(self, url: str | None = None) -> SeenOfBoth:
        """Records both shows.

        Args:
            url: of a page that the hostile show is given as it begins.
        """
        self._watch.most()
        connections = self._connections()
        folders = [self._folder / Path(path).name for path in self._paths]
        for folder in folders:
            folder.mkdir(exist_ok=True)
        with ThreadPoolExecutor(len(folders)) as pool:
            urls = map(read_url, self._paths)
            recording = pool.map(probe.record, urls, [RECORDED_S] * len(folders), folders)
            if url:
                self._open(url)
            calm, own = recording
        taken = self._watch.most()
        assert self._connections() == connections
        kinds = map(_kind_of, gray_frames(str(own.path), RECORDED_S))
        return SeenOfBoth(
            probe.analyse(calm).missing_percent,
            [(kind, len([*frames])) for kind, frames in groupby(kinds)],
            taken,
        )

    def taken(self) -> TakenByBrowser:
        """The most that the hostile show's browser has taken since it was last observed."""
        return self._watch.most()

    def _connections(self) -> list[str]:
        return [each["id"] for path in self._paths for each in self._receiver.publishers(path)]

    def _open(self, url: str) -> None:
        page = {"spec": {"composition": {"external": {"url": url}}}}
        self._cluster.shows("patch", "project", self._project, "--type=merge", f"--patch={json.dumps(page)}")

    def calm_down(self) -> None:
        """Gives the hostile show an honest page of another site, and waits until that is received."""
        self._open(CALM)

        def shown() -> bool:
            frames = gray_frames(rtsp_url(self._paths[1]), 0.3, WIDTH, HEIGHT)
            return len(frames) > 0 and painted.read_frame(frames[-1]) is not None

        self._cluster.until("the honest page is on air", shown, 90)

    def wait_reason(self, *beginnings: str) -> None:
        """Until the hostile show is not ready for one of these reasons."""

        def given() -> bool:
            status = self._cluster.get("project", self._project)["status"]
            (ready,) = [each for each in status["conditions"] if each["type"] == "Ready"]
            return bool(ready["status"] != "True" and ready["message"].startswith(beginnings))

        self._cluster.until(f"it is not ready: {beginnings}", given)

    def lost_browsers(self) -> int:
        """How many have ended so far of the hostile show's."""
        return self._cluster.shows("logs", self._pod, "-c", "browser").count('"chromium.lost"')

    def standing(self) -> dict[str, object]:
        """What must not change: conditions of the node; of its pods which they are, and their restarts."""
        node = self._cluster.get("node", self._node)
        found: dict[str, object] = {each["type"]: each["status"] for each in node["status"]["conditions"]}
        for pod in (
            each for namespace in (SHOWS, SYSTEM) for each in self._cluster.list("pod", namespace=namespace)
        ):
            if pod["spec"].get("nodeName") == self._node:
                states = [(each["name"], each["restartCount"]) for each in pod["status"]["containerStatuses"]]
                found[pod["metadata"]["name"]] = (
                    pod["metadata"]["uid"],
                    pod["status"]["phase"],
                    sorted(states),
                )
        return found


def _kind_of(frame: painted.Gray) -> str:
    if frame.min() > WHITE_FROM:
        return PAGE
    if is_slate(frame[None]):
        return SLATE
    return BLACK if frame.max() < BLACK_TO else OTHER
