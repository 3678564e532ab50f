"""A show on air whose pages want to do harm, and what is seen of it outside."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker
from tests.support.hostile_site import HostileSite
from tests.support.media.stream import gray_frames
from tests.support.pod_pair import PodPair, programme
from tests.support.waiting import wait_for

KEY = "hostile"
CALM = "<body style='background: #fff'><script>setInterval(() => say('calm'), 50)</script>"
CPUS = """
import json, os, pathlib, sys
found = {}
for process in filter(lambda each: each.name.isdigit(), pathlib.Path('/proc').iterdir()):
    try:
        program = pathlib.Path((process / 'cmdline').read_text().split(chr(0))[0].split(' ')[0]).name
        for task in (process / 'task').iterdir():
            found.setdefault(program, set()).update(os.sched_getaffinity(int(task.name)))
    except OSError: pass
print(json.dumps({program: sorted(cpus) for program, cpus in found.items()}))
"""
"""Of each program, where one of its threads may run."""
STOPPED = """
import collections, json, pathlib, time
looks, stopped = collections.Counter(), collections.Counter()
until_s = time.monotonic() + 2
while time.monotonic() < until_s:
    for process in filter(lambda each: each.name.isdigit(), pathlib.Path('/proc').iterdir()):
        try:
            program, _, rest = (process / 'stat').read_text().partition('(')[2].rpartition(')')
            key = f'{program} {process.name}'
            looks[key] += 1
            stopped[key] += rest.split()[0] == 'T'
        except OSError: pass
    time.sleep(0.0037)
all_the_time = max(looks.values()) / 2
print(json.dumps({key: stopped[key] / count for key, count in looks.items() if count >= all_the_time}))
"""
"""Of each process that is there for half of the time, the part of it in which it is stopped."""


@dataclass
class HostileShow:
    """On air all the time; only its page changes."""

    pair: PodPair
    far_end: RtmpContainer
    site: HostileSite
    connection: str | None = None

    def open(self, url: str) -> None:
        self.pair.put(programme(url, self.far_end, KEY, page_timeout_ms=1000)).raise_for_status()

    def wait_said(self, text: str, timeout_s: float = 30.0) -> str:
        """The first that a page says which begins so."""

        def found() -> list[str]:
            return [each for each in self.site.said() if each.startswith(text)]

        self.pair.wait_for(found, f"said {text!r}: {self.site.said()[-5:]}", timeout_s)
        return found()[0]

    def wait_error(self, *beginnings: str, timeout_s: float = 60.0) -> None:
        def named() -> bool:
            return (self.pair.status().composition_error or "").startswith(beginnings)

        self.pair.wait_for(named, f"an error of {beginnings}", timeout_s)

    def cpus_of(self, program: str) -> set[int]:
        """Of the browser's container."""
        found = json.loads(docker("exec", f"{self.pair.name}-browser", "python3", "-c", CPUS))
        return set(found[program])

    def stopped_parts(self) -> dict[str, float]:
        """Of the browser's container: the part of its time in which each process is stopped."""
        found: dict[str, float] = json.loads(
            docker("exec", f"{self.pair.name}-browser", "python3", "-c", STOPPED)
        )
        return found

    def wait_paused(self) -> dict[str, float]:
        """Those processes that are stopped for a part of their time. They are chosen anew twice a second."""

        def found() -> dict[str, float]:
            return {process: part for process, part in self.stopped_parts().items() if part > 0.1}

        return wait_for(found, "processes are paused", state=lambda: self.pair.logs("browser")[-500:])

    def wait_confined(self, confined: bool, timeout_s: float) -> None:
        self.pair.wait_for(
            lambda: self.pair.metrics()["onair_encoder_browser_confined"] == confined,
            f"confined: {confined}; {self.pair.logs('browser')[-500:]}",
            timeout_s,
        )

    def assert_whole(self) -> None:
        """Two seconds of it at the far end, which has been connected since the beginning."""
        assert len(gray_frames(self.far_end.read_url(KEY), 2)) > 45
        assert self.far_end.publisher(KEY) == self.connection
        for part in ("browser", "encoder"):
            state = docker(
                "inspect", "-f", "{{.State.Running}} {{.RestartCount}}", f"{self.pair.name}-{part}"
            )
            assert state == "true 0"

    def calm_down(self) -> None:
        """Another page, of another origin, is shown as any."""
        self.open(self.site.page("calm", CALM, "127.0.0.2"))
        self.pair.wait_for(
            lambda: self.pair.status().composition_error is None and not self.pair.status().on_slate,
            "calm",
            60,
        )
