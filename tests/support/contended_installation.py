"""Two operators and two facades over one API server, encoders in containers, and an RTMP server."""

from __future__ import annotations

import secrets
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import httpx
from tests.support.certificate_authority import HOST
from tests.support.control_plane import ControlPlane, free_port
from tests.support.controllers import Controller
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import own_image
from tests.support.facade import StoredResources
from tests.support.installation import new_installation
from tests.support.kubelet import ContainerKubelets
from tests.support.pages import probe_page
from tests.support.plain_http import NO_TLS
from tests.support.redis_server import RedisServer
from tests.support.running_pod import RunningPod
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

CLOCKS_S = (5.0, -5.0)
"""How far the clocks of the two operators are ahead of everybody else's."""
REQUEST_TIMEOUT_S = 4.0
POLL_S = 0.1


@dataclass(frozen=True)
class Accepted:
    """A moment at which the RTMP server accepted the stream of one encoder."""

    at: float
    key: str
    number: int
    """Of the encoder's pod, in the order of their starts."""


class Publishers:
    """Watches who publishes which stream on an RTMP server."""

    def __init__(self, server: RtmpContainer, kubelets: ContainerKubelets) -> None:
        self._server, self._kubelets = server, kubelets
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.seen: list[Accepted] = []

    def end(self) -> None:
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        with httpx.Client(base_url=self._server.http.base_url, timeout=5, verify=NO_TLS) as http:
            while not self._ending.wait(POLL_S):
                with suppress(httpx.HTTPError):
                    connections = http.get("/v3/rtmpconns/list").raise_for_status().json()["items"]
                    self._note(connections)

    def _note(self, connections: list[JsonObject]) -> None:
        numbers = {pod.address: pod.number for pod in self._kubelets.running()}
        for each in connections:
            number = numbers.get(str(each["remoteAddr"]).rsplit(":", 1)[0])
            if each["state"] == "publish" and number is not None:
                key = str(each["path"]).removeprefix("live/")
                self.seen.append(Accepted(time.monotonic(), key, number))

    def longest_contest_s(self, key: str) -> float:
        """The longest time for which an encoder published although a later one had done so before."""
        newest, contested = 0, []
        for each in (each for each in list(self.seen) if each.key == key):
            contested.append((each.number < newest, each.at))
            newest = max(newest, each.number)
        runs = [[at for _, at in run] for late, run in groupby(contested, lambda pair: pair[0]) if late]
        return max((run[-1] - run[0] for run in runs), default=0.0)


class ContendedInstallation:
    """What the schedule of a test does to an installation, and sees of it."""

    def __init__(
        self,
        resources: StoredResources,
        operators: list[Controller],
        facades: list[Controller],
        urls: list[str],
        kubelets: ContainerKubelets,
        server: RtmpContainer,
        page: str,
    ) -> None:
        self.resources, self.operators, self.facades, self.urls = resources, operators, facades, urls
        self.kubelets, self.server, self.page = kubelets, server, page
        self.publishers = Publishers(server, kubelets)
        key = resources.add_api_key("studio")
        wait_for(lambda: all(self._ready(url) for url in urls), "the facades are ready", 60)
        issued = wait_for(lambda: self._token(key), "the API key is known", 60)
        self._headers = {"Authorization": f"Bearer {issued}"}

    def _ready(self, url: str) -> bool:
        with suppress(httpx.HTTPError):
            return httpx.get(f"{url}/readyz", timeout=2, trust_env=False, verify=NO_TLS).is_success
        return False

    def _token(self, key: str) -> str | None:
        response = httpx.post(
            f"{self.urls[0]}/live/v2/authentication/token",
            headers={"X-API-Key": key},
            json={"serviceUserId": "anna", "maxDuration": 86_400_000},
            trust_env=False,
            verify=NO_TLS,
        )
        return str(response.json()["accessToken"]) if response.is_success else None

    def call(self, replica: int, method: str, path: str, body: JsonObject | None = None) -> JsonObject | None:
        """The response of a replica; None where it is not known whether the call took effect."""
        url = f"{self.urls[replica]}/live/v2{path}"
        try:
            response = httpx.request(
                method,
                url,
                json=body,
                headers=self._headers,
                timeout=REQUEST_TIMEOUT_S,
                trust_env=False,
                verify=NO_TLS,
            )
        except httpx.HTTPError:
            return None
        if response.status_code in (409, 503):
            return None
        assert response.is_success, response.text
        return response.json()  # type: ignore[no-any-return]

    def show(self) -> ContendedShow:
        """A new project with one RTMP destination, both known to both replicas."""
        return ContendedShow(self)

    def heal(self) -> None:
        """Ends all faults; killed programs run again."""
        self.kubelets.heal()
        for each, clock_s in zip(self.operators, CLOCKS_S, strict=True):
            each.heal()
            if not each.running:
                each.start(clock_s)
        for facade in self.facades:
            facade.heal()


class ContendedShow:
    """One project of an installation."""

    def __init__(self, installation: ContendedInstallation) -> None:
        self._installation = installation
        made = self._made("POST", "/collection", {}, "collection")
        self._root = f"/collection/{made['collectionId']}/project"
        video = {"width": 320, "height": 240, "framerate": 10}
        body = {
            "composition": {"external": {"url": installation.page}},
            "rendering": {"video": video},
        }
        self.id = str(self._made("POST", self._root, body, "project")["projectId"])
        self.path = f"{self._root}/{self.id}"
        self.key = f"key-{secrets.token_hex(4)}"
        address = {"rtmpPush": {"url": installation.server.url, "key": self.key}}
        self._made("POST", f"{self.path}/destination", {"address": address, "enabled": True}, "destination")
        wait_for(lambda: installation.call(1, "GET", self.path), "the other replica knows the project")

    def _made(self, method: str, path: str, body: JsonObject, name: str) -> JsonObject:
        response = wait_for(lambda: self._installation.call(0, method, path, body), f"{method} {path}")
        return response[name]  # type: ignore[no-any-return]

    @property
    def pods(self) -> list[RunningPod]:
        """Its encoders that have containers."""
        return [pod for pod in self._installation.kubelets.running() if pod.project == self.id]

    @property
    def state(self) -> str:
        """The state that its spec wants."""
        spec = self._installation.resources.get("projects", self.id)["spec"]
        return str((spec.get("broadcast") or {}).get("state", "Stopped"))

    def on_air(self) -> bool:
        """Whether exactly one encoder runs and the RTMP server gets media from it."""
        pods = self.pods
        if len(pods) != 1 or self._phase() != "Running":
            return False
        connections = self._installation.server.http.get("/v3/rtmpconns/list").json()["items"]
        sources = [c for c in connections if c["path"] == f"live/{self.key}" and c["state"] == "publish"]
        return [str(c["remoteAddr"]).rsplit(":", 1)[0] for c in sources] == [pods[0].address]

    def off_air(self) -> bool:
        """Whether nothing of it is left: no pod, no identity, no stream."""
        if self.pods or self._phase() not in (None, "Stopped", "Archived"):
            return False
        names = [each["metadata"]["name"] for each in self._installation.resources.secrets()]
        left = [name for name in names if name.startswith(f"{self.id}-")]
        return not left and not self._installation.server.path(self.key).get("ready")

    def story(self) -> str:
        """Its phase and the names of its encoders, to be printed."""
        return f"{self._phase()}, encoders: {', '.join(pod.name for pod in self.pods) or 'none'}"

    def _phase(self) -> str | None:
        status = self._installation.resources.get("projects", self.id).get("status") or {}
        return (status.get("broadcast") or {}).get("phase")


@contextmanager
def contended_installation(
    control_plane: ControlPlane, redis: RedisServer
) -> Iterator[ContendedInstallation]:
    """Starts all of it; nothing is left afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="onair-contended-"))
    with ExitStack() as stack:
        resources = new_installation(stack.enter_context(control_plane.client()))
        server = stack.enter_context(RtmpContainer(own_image("mediamtx")))
        page = stack.enter_context(probe_page())
        kubelets = stack.enter_context(ContainerKubelets(resources.admin, resources.shows))
        # Pages and servers of tests are inside
        names = {
            "showNamespace": resources.shows,
            "releaseNamespace": resources.release,
            "inside": {"refused": False},
        }
        operators, facades, urls = [], [], []
        for number, clock_s in enumerate(CLOCKS_S, 1):
            settings = {
                **names,
                "healthPort": free_port(),
                "resyncIntervalS": 5,
                "leaderElection": {"leaseDurationS": 4, "renewIntervalS": 1},
            }
            operator = stack.enter_context(
                Controller(f"operator-{number}", "onair_operator", settings, control_plane.kubeconfig, folder)
            )
            operator.start(clock_s)
            operators.append(operator)
        for number in (1, 2):
            port = free_port()
            settings = {
                **names,
                "listen": {"host": HOST, "port": port},
                "redis": {"url": redis.url},
                "rateLimits": {"perToken": 0, "perService": 0},
            }
            facade = stack.enter_context(
                Controller(f"facade-{number}", "onair_api", settings, control_plane.kubeconfig, folder)
            )
            facade.start()
            facades.append(facade)
            urls.append(f"http://{HOST}:{port}")
        installation = ContendedInstallation(resources, operators, facades, urls, kubelets, server, page)
        stack.callback(installation.publishers.end)
        yield installation
