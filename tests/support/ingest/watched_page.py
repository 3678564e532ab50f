"""A page in a pod's browser that shows a pushed stream, and what is seen on it."""

from __future__ import annotations

import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlencode

import httpx
from tests.support.delivery.rtmp_container import CONFIG, RtmpContainer
from tests.support.docker import docker, own_image, remove
from tests.support.ingest.arrivals import Arrivals
from tests.support.ingest.page_relay import PORT, SOURCES_PORT
from tests.support.media import painted
from tests.support.plain_http import NO_TLS
from tests.support.pod_pair import PodPair, programme
from tests.support.waiting import wait_for

from onair_crds.contract.page_network import PageNetwork

ROOT = Path(__file__).parents[3]
CPU_NS = """
cat /sys/fs/cgroup/cpuacct/cpuacct.usage 2>/dev/null ||
  sed -n 's/usage_usec \\(.*\\)/\\1000/p' /sys/fs/cgroup/cpu.stat
"""
"""CPU time of a container, by cgroups of either version."""
WEBRTC = CONFIG.replace("webrtc: no", "webrtc: yes\nwebrtcAddress: :8889")


@dataclass(frozen=True)
class Seen:
    """What a page has shown and played, by its own account."""

    frames: list[tuple[int, float]]
    """The clip's clock and the wall clock when it was painted, both in milliseconds."""
    clicks_ms: list[float]
    """Wall clock when each was heard."""

    def latencies_ms(self, arrived_at_ms: dict[int, float]) -> list[float]:
        """From a picture's arrival at the media server until it is on the page."""
        nearest = {round(at / 10): ms for at, ms in arrived_at_ms.items()}
        found = []
        for clock, painted_ms in self.frames:
            for key in (round(clock / 10), round(clock / 10) - 1, round(clock / 10) + 1):
                if key in nearest:
                    found.append(painted_ms - nearest[key])
                    break
        return found

    def av_offset_ms(self, clicks_ms: list[int]) -> float | None:
        """Audio minus video: positive where audio is late."""
        video_ms = statistics.median(painted_ms - clock for clock, painted_ms in self.frames)
        heard = [at / 1000 for at in self.clicks_ms]
        return painted.av_offset_ms(heard, [(at + video_ms) / 1000 for at in clicks_ms])


class WatchedPage:
    """Use as a context manager."""

    def __init__(self, folder: Path, width: int = 640, height: int = 360) -> None:
        on_loopback = tuple(f"127.0.0.1:{port}" for port in (PORT, SOURCES_PORT))
        self.pair = PodPair(folder, page_network=PageNetwork(allowed_hosts=on_loopback))
        self._size = width, height
        self.server = RtmpContainer(own_image("mediamtx"), WEBRTC)
        self._relay = ""
        self._pushes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self.server.__enter__()
        self.pair.__enter__()
        self._relay = f"{self.pair.name}-relay"
        self.pair.wait_agent()
        docker(
            *("run", "-d", "--name", self._relay, "--network", f"container:{self.pair.name}-browser"),
            *(
                "-v",
                f"{ROOT}:/project:ro",
                "-e",
                "PYTHONPATH=/project:/project/crds:/project/images/ingest:/project/images/encoder",
            ),
            *("--entrypoint", "python3", self.pair.image, "-m", "tests.support.ingest.page_relay"),
            *(self.server.address, "/project/tests/support/ingest/pages"),
        )
        self.http = httpx.Client(base_url=f"http://{self.pair.address}:{PORT}", timeout=5, verify=NO_TLS)
        self.arrivals = Arrivals(self.server.address)
        self.arrivals.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for push in self._pushes:
            push.kill()
            push.wait()
        self.arrivals.__exit__()
        self.http.close()
        logs = subprocess.run(["docker", "logs", self._relay], check=False, capture_output=True)
        (self.pair.folder / "relay.log").write_bytes(logs.stdout + logs.stderr)
        remove(self._relay)
        self.pair.__exit__()
        self.server.__exit__()

    def push(self, clip: Path, key: str = "one", *, direct: bool = False) -> subprocess.Popen[bytes]:
        """Publishes a clip in real time, by ffmpeg; arrivals are noted unless it is `direct`."""
        url = f"{self.server.url}/{key}"
        if not direct:
            url = f"rtmp://{self.arrivals.host}:{self.arrivals.port}/live/{key}"
        command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-re", "-i", str(clip)]
        process = subprocess.Popen([*command, "-c", "copy", "-f", "flv", url])
        self._pushes.append(process)
        wait_for(lambda: self.server.path(key).get("ready"), f"{key} is published")
        return process

    def transcode(self, key: str, to: str) -> subprocess.Popen[bytes]:
        """What WHEP needs: the stream without B-frames, with Opus."""
        command = [
            *("ffmpeg", "-loglevel", "error", "-nostdin", "-fflags", "nobuffer", "-flags", "low_delay"),
            *("-probesize", "2000000", "-analyzeduration", "3000000", "-i", f"{self.server.url}/{key}"),
            *("-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-bf", "0", "-g", "60"),
            *("-b:v", "2500k", "-c:a", "libopus", "-b:a", "96k", "-f", "rtsp", "-rtsp_transport", "tcp"),
        ]
        process = subprocess.Popen([*command, f"rtsp://{self.server.address}:8554/live/{to}"])
        self._pushes.append(process)
        wait_for(lambda: self.server.path(to).get("ready"), f"{to} is published")
        return process

    def show(self, page: str, **query: str) -> None:
        """Loads a page of `pages/` into the pod's browser."""
        address = f"http://127.0.0.1:{PORT}/pages/{page}.html?{urlencode(query)}"
        width, height = self._size
        wanted = programme(address, self.server, "program")
        video = wanted.video.model_copy(update={"width": width, "height": height})
        response = self.pair.put(wanted.model_copy(update={"video": video}))
        response.raise_for_status()
        self.pair.wait_phase("running", 40)

    def seen(self) -> Seen:
        try:
            report = self.http.get("/report").json() or {"frames": [], "clicks": []}
        except httpx.HTTPError:
            return Seen([], [])  # it is just being started
        return Seen([(int(clock), at) for clock, at in report["frames"]], report["clicks"])

    def wait_seen(self, frames: int, timeout_s: float = 40.0) -> Seen:
        wait_for(lambda: len(self.seen().frames) >= frames, f"{frames} frames are seen", timeout_s)
        return self.seen()

    def restart_relay(self) -> None:
        """Kills the gateway's readers and the agent's relay, and starts them again."""
        docker("kill", self._relay)
        docker("start", self._relay)

    def browser_cpu_s(self) -> float:
        """CPU time of the browser's container so far."""
        return int(docker("exec", f"{self.pair.name}-browser", "sh", "-c", CPU_NS)) / 1e9


def cpu_share(watched: WatchedPage, seconds: float) -> float:
    """Cores that the browser's container takes, over some seconds."""
    began, cpu_s = time.monotonic(), watched.browser_cpu_s()
    time.sleep(seconds)
    return (watched.browser_cpu_s() - cpu_s) / (time.monotonic() - began)
