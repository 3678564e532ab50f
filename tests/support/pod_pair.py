"""The containers of an encoder pod in Docker, as a kubelet would run them: users, volumes, no rights."""

from __future__ import annotations

import datetime as dt
import json
import re
import signal
import ssl
import subprocess
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import httpx
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import address_of, docker, kill_within, own_image, remove
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for

from onair_crds.contract.page_network import VARIABLE, PageNetwork
from onair_crds.contract.pod import (
    COMPOSITOR_FOLDER,
    COMPOSITOR_URL,
    CONTROL_PORT,
    METRICS_PORT,
    SNAPSHOT_KEY,
)
from onair_crds.contract.program import (
    DestinationState,
    EncoderStatus,
    Program,
    ProgramDestination,
    ProgramVideo,
)
from onair_operator.encoder.pod_identity import OperatorKey, pod_identity

POD = "show-run-1"
NO_MORE = PageNetwork()
POLICIES_FOLDER = "/etc/chromium/policies/managed"
LOCKED_DOWN = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
SECCOMP = [
    "--security-opt",
    f"seccomp={Path(__file__).parents[2] / 'charts/onair/files/seccomp/chromium.json'}",
]
"""The profile that the chart installs on nodes for the browser's container."""


def programme(page: str, far_end: RtmpContainer, *keys: str, **extra: object) -> Program:
    """A small programme of epoch 2, with an RTMP destination for each key."""
    destinations = [
        ProgramDestination(id=key, type="RTMP", url=far_end.url, key=key, timeout_ms=1000) for key in keys
    ]
    video = ProgramVideo(
        width=640, height=360, framerate=30, bitrate_bps=600_000, keyframe_interval_frames=30
    )
    wanted = {"project": "show", "broadcast": "run", "epoch": 2, "composition_url": page, "video": video}
    return Program(**{**wanted, "destinations": destinations, **extra})


def _servers_of(program: Program) -> set[str]:
    """Hosts and ports that a page of tests is from, with what its layers show: all at private addresses."""
    scene = program.scene.wire() if program.scene else ""
    found = {*re.findall(r"https?://(\d+\.\d+\.\d+\.\d+:\d+)/", f"{program.composition_url} {scene}")}
    return found - {urlsplit(COMPOSITOR_URL).netloc}


def metrics_text(address: str) -> str:
    """What an encoder pod says to Prometheus."""
    return httpx.get(f"http://{address}:{METRICS_PORT}/metrics", verify=NO_TLS).raise_for_status().text


def metrics_at(address: str) -> dict[str, float]:
    """Every sample of an encoder pod by its name, with its labels where it has some."""
    text = metrics_text(address)
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


class PodPair:
    """Use as a context manager; the containers are gone afterwards."""

    def __init__(
        self,
        folder: Path,
        size: tuple[int, int] = (3840, 2160),
        browser_memory_mib: int | None = None,
        compositor: Path | None = None,
        sandbox: Sequence[str] = SECCOMP,
        page_network: PageNetwork | None = NO_MORE,
        name_server: str = "",
        policies: Path | None = None,
        cpus: Sequence[int] = (),
    ) -> None:
        """
        Args:
            sandbox: Docker's options of the browser's container that say what its sandbox may do.
            compositor: a folder in the place of the built-in page's.
            page_network: what pages may reach beside the servers that pages are from; None: everything.
            name_server: an address in the place of this machine's own.
            policies: a folder in the place of the browser's managed policies.
            cpus: numbers of those that its containers may run on; none is all.
        """
        self.image, self.folder, self.size = own_image("encoder"), folder, size
        self._browser_options = [
            *([f"--memory={browser_memory_mib}m"] if browser_memory_mib else []),
            *sandbox,
            *(["-v", f"{policies}:{POLICIES_FOLDER}:ro"] if policies else []),
        ]
        self._compositor = ["-v", f"{compositor}:{COMPOSITOR_FOLDER}:ro"] if compositor else []
        self.name = f"onair-test-{uuid.uuid4().hex[:8]}"
        self._cpus = [f"--cpuset-cpus={','.join(map(str, cpus))}"] if cpus else []
        self.key = OperatorKey.generate()
        self._revision = 0
        self._page_network = page_network
        self._name_server = [f"--dns={name_server}"] if name_server else []

    def __enter__(self) -> Self:
        for parent in (self.folder, self.folder.parent):
            parent.chmod(0o755)
        volumes = {}
        for volume in ("x11", "pulse", "control", "program", "identity", "browser-tmp", "encoder-tmp"):
            path = self.folder / volume
            path.mkdir()
            path.chmod(0o777 | (0o1000 if "tmp" in volume or volume == "x11" else 0))
            volumes[volume] = str(path)
        for name, text in pod_identity(self.key, dt.datetime.now(dt.UTC)).items():
            (self.folder / "identity" / name).write_text(text)
        shared = [
            *("-v", f"{volumes['x11']}:/tmp/.X11-unix"),
            *("-v", f"{volumes['pulse']}:/run/onair/pulse"),
            *("-v", f"{volumes['control']}:/run/onair/browser"),
            *("-e", f"ONAIR_MAX_WIDTH={self.size[0]}", "-e", f"ONAIR_MAX_HEIGHT={self.size[1]}"),
            *LOCKED_DOWN,
            *self._cpus,
        ]
        docker(
            *("run", "-d", "--name", f"{self.name}-browser", "--user", "1000:2000", "--ipc", "shareable"),
            *self._name_server,
            *("-v", f"{volumes['browser-tmp']}:/tmp", *self._browser_options, *shared, self.image, "browser"),
        )
        self._load_rules()
        docker(
            *("run", "-d", "--name", f"{self.name}-encoder", "--user", "1001:2000"),
            *("--ipc", f"container:{self.name}-browser", "--network", f"container:{self.name}-browser"),
            *("-v", f"{volumes['encoder-tmp']}:/tmp", "-v", f"{volumes['program']}:/run/onair/program"),
            *("-v", f"{volumes['identity']}:/run/onair/identity:ro"),
            *("-e", f"ONAIR_POD_NAME={POD}", *self._compositor),
            *(*shared, self.image, "encoder"),
        )
        self.started = time.monotonic()
        self.address = address_of(f"{self.name}-browser")
        context = ssl.create_default_context(cadata=(self.folder / "identity/tls.crt").read_text())
        context.check_hostname = False
        self.http = httpx.Client(base_url=f"https://{self.address}:{CONTROL_PORT}", verify=context, timeout=5)
        return self

    def _load_rules(self) -> None:
        """As the init container does, before anybody names a page; and again, for pages of later servers."""
        if self._page_network is None:
            return
        docker(
            *("run", "--rm", "--network", f"container:{self.name}-browser", "--user", "0:0", *LOCKED_DOWN),
            *("--cap-add=NET_ADMIN", "-e", f"{VARIABLE}={self._page_network.text()}", self.image, "network"),
        )

    def allow(self, *hosts: str) -> None:
        """Adds hosts, with their ports, to what pages may reach."""
        if self._page_network is None or {*hosts} <= {*self._page_network.allowed_hosts}:
            return
        allowed = dict.fromkeys((*self._page_network.allowed_hosts, *hosts))
        self._page_network = replace(self._page_network, allowed_hosts=tuple(allowed))
        self._load_rules()

    def allow_rooms(self, udp_port: int, tcp_port: int) -> None:
        """Lets pages reach audio and video of a room server."""
        assert self._page_network
        self._page_network = replace(self._page_network, room_udp_port=udp_port, room_tcp_port=tcp_port)
        self._load_rules()

    def __exit__(self, *_: object) -> None:
        self.http.close()
        (self.folder / "browser.log").write_text(self.logs("browser"))
        (self.folder / "encoder.log").write_text(self.logs("encoder"))
        for part in ("encoder", "browser"):
            remove(f"{self.name}-{part}")

    def logs(self, part: str) -> str:
        done = subprocess.run(
            ["docker", "logs", f"{self.name}-{part}"], check=False, capture_output=True, text=True
        )
        return done.stdout + done.stderr

    def logged(self, event: str) -> int:
        """How often the encoder's container has logged an event."""
        lines = [line for line in self.logs("encoder").splitlines() if line.startswith("{")]
        return sum(json.loads(line).get("event") == event for line in lines)

    def token(self, pod: str = POD, scope: str = "program", age_s: float = 0.0) -> dict[str, str]:
        issued = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=age_s)
        return {"Authorization": f"Bearer {self.key.token(pod, issued, scope)}"}

    def wait_agent(self, timeout_s: float = 20.0) -> None:
        wait_for(
            self._agent_responds,
            "the agent responds",
            timeout_s,
            poll_s=0.02,
            state=lambda: self.logs("encoder"),
        )

    def _agent_responds(self) -> bool:
        try:
            return self.http.get("/v1/status", headers=self.token()).is_success
        except httpx.HTTPError:
            return False

    @property
    def snapshot_key(self) -> dict[str, str]:
        """The facade's credentials."""
        return {"Authorization": f"Bearer {(self.folder / 'identity' / SNAPSHOT_KEY).read_text()}"}

    def put(self, program: Program) -> httpx.Response:
        self._revision += 1
        self.allow(*_servers_of(program))
        body = program.model_copy(update={"revision": self._revision}).wire()
        return self.http.put("/v1/program", content=body, headers=self.token())

    def status(self) -> EncoderStatus:
        response = self.http.get("/v1/status", headers=self.token())
        return EncoderStatus.model_validate_json(response.raise_for_status().content)

    def wait_phase(self, phase: str, timeout_s: float = 20.0) -> EncoderStatus:
        def reached() -> EncoderStatus | None:
            status = self.status()
            return status if status.phase == phase else None

        return wait_for(reached, f"phase {phase}", timeout_s, poll_s=0.02, state=self.status)

    def states(self) -> dict[str, DestinationState]:
        return {destination.id: destination for destination in self.status().destinations}

    def wait_for(self, check: Callable[[], object], what: str, timeout_s: float = 10.0) -> None:
        wait_for(check, what, timeout_s, poll_s=0.02, state=self.status)

    def wait_connected(self, *ids: str) -> None:
        self.wait_for(
            lambda: {id_ for id_, state in self.states().items() if state.connect == "Connected"} >= {*ids},
            f"connected: {ids}",
        )

    def metrics(self) -> dict[str, float]:
        return metrics_at(self.address)

    def kill(self, container: str, program: str, number: int = signal.SIGKILL) -> int:
        """Kills one process inside a container, by a part of its command line; its pid, or 0 for none."""
        return kill_within(f"{self.name}-{container}", program, number)
