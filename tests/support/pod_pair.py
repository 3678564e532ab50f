"""The two containers of an encoder pod in Docker, as a kubelet would run them: users, volumes, no rights."""

from __future__ import annotations

import datetime as dt
import ssl
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any, Self

import httpx

from onair_crds.contract.pod import CONTROL_PORT
from onair_crds.contract.program import EncoderStatus, Program
from onair_operator.encoder.identity import OperatorKey, pod_identity

POD = "show-run-1"
LOCKED_DOWN = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"]


def docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def address_of(container: str) -> str:
    return docker("inspect", "-f", "{{.NetworkSettings.IPAddress}}", container)


class PodPair:
    """Use as a context manager; the containers are gone afterwards."""

    def __init__(
        self, image: str, folder: Path, epoch: int = 1, size: tuple[int, int] = (3840, 2160)
    ) -> None:
        self.image, self.folder, self.epoch, self.size = image, folder, epoch, size
        self.name = f"onair-test-{uuid.uuid4().hex[:8]}"
        self.key = OperatorKey.generate()
        self._revision = 0

    def __enter__(self) -> Self:
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
        ]
        docker(
            *("run", "-d", "--name", f"{self.name}-browser", "--user", "1000:2000", "--ipc", "shareable"),
            *("-v", f"{volumes['browser-tmp']}:/tmp", *shared, self.image, "browser"),
        )
        docker(
            *("run", "-d", "--name", f"{self.name}-encoder", "--user", "1001:2000"),
            *("--ipc", f"container:{self.name}-browser", "--network", f"container:{self.name}-browser"),
            *("-v", f"{volumes['encoder-tmp']}:/tmp", "-v", f"{volumes['program']}:/run/onair/program"),
            *("-v", f"{volumes['identity']}:/run/onair/identity:ro"),
            *("-e", f"ONAIR_POD_NAME={POD}", "-e", f"ONAIR_EPOCH={self.epoch}"),
            *(*shared, self.image, "encoder"),
        )
        self.started = time.monotonic()
        self.address = address_of(f"{self.name}-browser")
        context = ssl.create_default_context(cadata=(self.folder / "identity/tls.crt").read_text())
        context.check_hostname = False
        self.http = httpx.Client(base_url=f"https://{self.address}:{CONTROL_PORT}", verify=context, timeout=5)
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        (self.folder / "browser.log").write_text(self.logs("browser"))
        (self.folder / "encoder.log").write_text(self.logs("encoder"))
        for part in ("encoder", "browser"):
            subprocess.run(["docker", "rm", "-f", f"{self.name}-{part}"], check=False, capture_output=True)

    def logs(self, part: str) -> str:
        done = subprocess.run(
            ["docker", "logs", f"{self.name}-{part}"], check=False, capture_output=True, text=True
        )
        return done.stdout + done.stderr

    def token(self, pod: str = POD, scope: str = "program", age_s: float = 0.0) -> dict[str, str]:
        issued = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=age_s)
        return {"Authorization": f"Bearer {self.key.token(pod, issued, scope)}"}

    def wait_agent(self, timeout_s: float = 20.0) -> None:
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                self.http.get("/v1/status", headers=self.token()).raise_for_status()
                return
            except httpx.HTTPError:
                assert time.monotonic() < deadline, self.logs("encoder")
                time.sleep(0.02)

    def put(self, program: Program) -> httpx.Response:
        self._revision += 1
        body = program.model_copy(update={"revision": self._revision}).wire()
        return self.http.put("/v1/program", content=body, headers=self.token())

    def status(self) -> EncoderStatus:
        answer = self.http.get("/v1/status", headers=self.token())
        return EncoderStatus.model_validate_json(answer.raise_for_status().content)

    def wait_phase(self, phase: str, timeout_s: float = 20.0) -> EncoderStatus:
        deadline = time.monotonic() + timeout_s
        while True:
            status = self.status()
            if status.phase == phase:
                return status
            assert time.monotonic() < deadline, f"not {phase}: {status}"
            time.sleep(0.02)

    def kill(self, container: str, program: str) -> int:
        """Kills one process inside a container, by a part of its command line; gives its pid."""
        return int(docker("exec", f"{self.name}-{container}", "python3", "-c", KILL, program))


KILL = """
import os, signal, sys
for pid in sorted(filter(str.isdigit, os.listdir('/proc')), key=int):
    try: line = open(f'/proc/{pid}/cmdline').read().replace('\\0', ' ')
    except OSError: continue
    if int(pid) not in (1, os.getpid()) and sys.argv[1] in line:
        os.kill(int(pid), signal.SIGKILL); print(pid); break
"""


FAR_END = """
api: yes
apiAddress: :9997
hls: no
webrtc: no
srt: no
moq: no
authInternalUsers:
  - user: any
    permissions: [{action: publish}, {action: read}, {action: api}]
paths:
  all_others:
"""


class Rtmp:
    """MediaMTX in Docker as the far end."""

    def __init__(self, image: str) -> None:
        self.image, self.name = image, f"onair-test-rtmp-{uuid.uuid4().hex[:8]}"

    def __enter__(self) -> Self:
        config = Path(tempfile.mkdtemp()) / "far-end.yml"
        config.write_text(FAR_END)
        docker("create", "--name", self.name, self.image, "/far-end.yml")
        docker("cp", str(config), f"{self.name}:/far-end.yml")
        docker("start", self.name)
        self.address = address_of(self.name)
        self.http = httpx.Client(base_url=f"http://{self.address}:9997", timeout=5)
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        subprocess.run(["docker", "rm", "-f", self.name], check=False, capture_output=True)

    @property
    def url(self) -> str:
        return f"rtmp://{self.address}:1935/live"

    def read_url(self, key: str) -> str:
        return f"rtsp://{self.address}:8554/live/{key}"

    def path(self, key: str) -> dict[str, Any]:
        answer = self.http.get(f"/v3/paths/get/live/{key}")
        return answer.json() if answer.is_success else {}

    def received(self, key: str) -> int:
        return int(self.path(key).get("bytesReceived", 0))
