"""Scenes on air with all that is between a client and a viewer: real programs, which a test may end."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from tests.support.control_plane import ControlPlane, free_port
from tests.support.controllers import Controller
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import host_address, own_image
from tests.support.facade import StoredResources
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.pod_page import PORT as PAGE_PORT
from tests.support.installation import new_installation
from tests.support.kubelet import ContainerKubelets
from tests.support.media.live_view import LiveView
from tests.support.plain_http import NO_TLS
from tests.support.redis_server import RedisServer
from tests.support.rooms.hosted_rooms import HOSTED, add_credentials
from tests.support.running_pod import RunningPod
from tests.support.scene.live_scene import LiveLayout, LiveScene
from tests.support.scene.picture import Colour
from tests.support.shows import FacadeClient
from tests.support.waiting import wait_for

from onair_crds.contract.ingest_gateway import INGEST_SECRET, INGEST_SECRET_KEY
from onair_crds.contract.rooms import SIGNAL_PATH
from onair_crds.shapes import JsonObject

WIDTH, HEIGHT, RATE = 640, 360, 30
BLACK = 8
"""What is not brighter is black, encoded."""
SAID = 25
"""Lines of each program's log in a failure."""
SECRET = "the ingest secret of the tests, of some length"
KEY = "scene"
PAGE_IN_POD = f"127.0.0.1:{PAGE_PORT}"


def square(colour: Colour, x: int = 0, y: int = 0, width: int = WIDTH, height: int = HEIGHT) -> JsonObject:
    """A layer of one colour; all of the picture where nothing else is said."""
    data = {"backgroundColor": f"rgb{colour}"}
    return {"type": "square", "x": x, "y": y, "width": width, "height": height, "data": data}


class OnAir:
    """A show of scenes that is on air, and the programs that it needs."""

    def __init__(
        self,
        resources: StoredResources,
        control_plane: ControlPlane,
        redis: RedisServer,
        operator: Controller,
        facade: Controller,
        address: str,
        kubelets: ContainerKubelets,
        ingest: IngestPod,
        rooms: LiveKitServer,
        size: tuple[int, int],
    ) -> None:
        self.resources, self.control_plane, self.redis = resources, control_plane, redis
        self.operator, self.facade, self.address = operator, facade, address
        self.kubelets, self.ingest, self.rooms = kubelets, ingest, rooms
        key = resources.add_api_key("studio")
        wait_for(self.facade_is_ready, "the facade is ready", 60)
        self.client = wait_for(lambda: self._signed_in(key), "the API key is known", 30)
        video = {"width": size[0], "height": size[1], "framerate": RATE}
        encoding = {"video": {"bitrate": 4_000_000}}
        self.show = self.client.show(
            "", composition={"scene": {}}, rendering={"video": video}, encoding=encoding, **HOSTED
        )
        self._scene = LiveScene(self.show)
        self._black: LiveLayout | None = None

    def _signed_in(self, key: str) -> FacadeClient | None:
        with suppress(httpx.HTTPError):
            return FacadeClient(self.address, key)
        return None

    def facade_is_ready(self) -> bool:
        with suppress(httpx.HTTPError):
            return httpx.get(f"{self.address}/readyz", timeout=2, trust_env=False, verify=NO_TLS).is_success
        return False

    @property
    def pod(self) -> RunningPod:
        (pod,) = self.kubelets.running()
        return pod

    def scene(self, *transitions: JsonObject, **layers: dict[str, Any]) -> LiveLayout:
        """A new layout with these layers."""
        return self._scene.layout(*transitions, **layers)

    def select(self, scene: LiveLayout) -> None:
        self._scene.select(scene)

    @contextmanager
    def showing(self, view: LiveView, **layers: dict[str, Any]) -> Iterator[LiveLayout]:
        """Has a new layout with these layers selected; leaves black."""
        scene = self.scene(**layers)
        self.select(scene)
        try:
            yield scene
        finally:
            self.leave(view, scene)

    def leave(self, view: LiveView, scene: LiveLayout) -> None:
        """Leaves black, which nobody takes for another picture; a layout that is deleted alone would stay."""
        self._black = self._black or self.scene(black=square((0, 0, 0)))
        self.select(self._black)
        with self.said_on_failure():
            view.until("nothing", lambda pixels: pixels.max() <= BLACK)
        scene.delete()

    @contextmanager
    def said_on_failure(self) -> Iterator[None]:
        """Adds what the programs logged last to a failure."""
        try:
            yield
        except AssertionError as error:
            for name, text in (
                ("operator", self.operator.log.read_text()),
                ("facade", self.facade.log.read_text()),
                ("encoder", self.pod.logs(self.pod.container("encoder"))),
                ("browser", self.pod.logs(self.pod.container("browser"))),
            ):
                error.add_note("\n".join([f"-- {name}:", *text.splitlines()[-SAID:]]))
            raise

    def compose(self, composition: JsonObject) -> None:
        """Puts another page on air, or a scene again."""
        self.client.call("PATCH", self.show.path, {"updateMask": "composition", "composition": composition})

    def source(self) -> tuple[str, str]:
        return self._scene.source()

    @property
    def signal_url(self) -> str:
        """Where participants join the show's room."""
        return self.address.replace("http://", "ws://") + SIGNAL_PATH

    def guest(self, name: str) -> str:
        """An access token of a guest; whoever joins by it again takes their own place in the room."""
        direct = {"displayName": name, "serviceUserId": name}
        ids = {"collectionId": self.show.collection, "projectId": self.show.project}
        body = {**ids, "role": "ROLE_GUEST", "token": {"direct": direct}}
        return str(self.client.call("POST", "/authentication/token/guest", body)["accessToken"])

    def room_token(self, guest: str, name: str) -> str:
        """A guest's token for the show's room."""
        response = self.client.http.post(
            f"/live/v2{self.show.path}/webrtc/token",
            json={"displayName": name},
            headers={"Authorization": f"Bearer {guest}"},
        )
        access = response.raise_for_status().json()["webrtcAccess"]
        assert access["participantId"] == name
        return str(access["accessToken"])

    def bring_back(self) -> None:
        """Starts what a test has ended, and did not come to start again."""
        if not self.control_plane.serving:
            self.control_plane.start_apiserver()
        if not self.redis.running:
            self.redis.start()
        for each in (self.operator, self.facade):
            if not each.running:
                each.start()
        wait_for(self.facade_is_ready, "the facade is ready", 60)

    def status(self) -> JsonObject:
        status: JsonObject = self.resources.get("projects", self.show.project).get("status") or {}
        return status


@contextmanager
def on_air(
    control_plane: ControlPlane, redis: RedisServer, size: tuple[int, int] = (WIDTH, HEIGHT)
) -> Iterator[tuple[OnAir, str]]:
    """Starts all of it, with a show on air, and says where it is seen; nothing is left afterwards."""
    host = host_address()
    port, hook_port = free_port(), free_port()
    address = f"http://{host}:{port}"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="onair-scenes-")))
        resources = new_installation(stack.enter_context(control_plane.client()))
        server = stack.enter_context(RtmpContainer(own_image("mediamtx")))
        rooms = LiveKitServer(folder, host, room={"auto_create": False})
        media = {"tcp_port": rooms.tcp_port, "udp_port": rooms.udp_port, "node_ip": host}
        rooms.configure(
            bind_addresses=["127.0.0.1", host],  # pods reach it, too
            rtc={**media, "use_external_ip": False, "ips": {"includes": [f"{host}/32"]}},
        )
        stack.enter_context(rooms)
        add_credentials(resources)
        resources.add_secret(resources.release, INGEST_SECRET, "Opaque", {INGEST_SECRET_KEY: SECRET})
        ingest = IngestPod(folder, f"http://{host}:{hook_port}", SECRET.encode())
        names = {"showNamespace": resources.shows, "releaseNamespace": resources.release}
        gateways = {"gateways": [{"name": "onair-ingest-0", "url": f"http://{host}:{ingest.port}"}]}
        both = {**names, "rooms": {"url": f"http://{host}:{rooms.port}"}, "inside": {"refused": False}}
        operator_settings = {
            **both,
            "inside": {
                "allowedHosts": [f"{server.address}:1935", PAGE_IN_POD],
                "allowedRanges": [f"{host}/32"],
            },
            "facadeUrl": address,
            "ingest": gateways,
            "healthPort": free_port(),
            "resyncIntervalS": 5,
        }
        facade_settings = {
            **both,
            "listen": {"host": host, "port": port},
            "redis": {"url": redis.url},
            "ingest": {**gateways, "hookPort": hook_port, "rtmpBaseUrl": ingest.rtmp},
        }
        kubelets = stack.enter_context(ContainerKubelets(resources.admin, resources.shows))
        kubeconfig = control_plane.kubeconfig
        operator = Controller("operator", "onair_operator", operator_settings, kubeconfig, folder)
        facade = Controller("facade", "onair_api", facade_settings, kubeconfig, folder)
        for each in (operator, facade):
            stack.enter_context(each).start()
        stack.enter_context(ingest)
        air = OnAir(resources, control_plane, redis, operator, facade, address, kubelets, ingest, rooms, size)
        air.show.add_destination(server.url, KEY, enabled=True)
        first = air.scene(first=square((128, 128, 128)))
        air.select(first)
        air.show.start()
        air.show.wait_phase("RUNNING")
        wait_for(lambda: server.path(KEY).get("ready"), "the stream arrives")
        yield air, server.rtmp_url(KEY)
