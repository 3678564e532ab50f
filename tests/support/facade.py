"""The real facade behind a real socket, and a client that speaks its interface."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import httpx
from tests.support.doors import DOOR, RPC, through_rpc
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for

from onair_api.__main__ import connect, server
from onair_api.cache.view import View
from onair_api.event.changes.announcer import KINDS
from onair_api.event.custom.bus import EventBus
from onair_api.event.event import Position
from onair_api.services import Services
from onair_api.settings import CacheSettings, ListenSettings, Settings
from onair_crds.resources.base import API_VERSION
from onair_crds.runtime import event_loop
from onair_crds.shapes import Document, JsonObject

DEADLINE_S = 20.0


class FacadeThread:
    """One replica, in a thread with an event loop of its own."""

    def __init__(self, kubeconfig: Path, shows: str, release: str, **settings: Any) -> None:
        self.settings = Settings(
            listen=ListenSettings(
                host=settings.pop("host", "127.0.0.1"),
                port=0,
                shutdown_grace_s=2,
                **settings.pop("listen", {}),
            ),
            show_namespace=shows,
            release_namespace=release,
            cache=settings.pop("cache", CacheSettings(backoff_initial_s=0.05, backoff_max_s=0.5)),
            **settings,
        )
        self._kubeconfig = kubeconfig
        self._server: Any = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self.listen()
        wait_for(lambda: self.http.get("/readyz").is_success, "the facade is ready")
        return self

    def listen(self) -> None:
        """Starts it, and waits until it responds, be it ready or not."""
        self._thread.start()
        wait_for(self._listens, "the facade listens")
        socket = self._server.servers[0].sockets[0]
        self.url = f"http://127.0.0.1:{socket.getsockname()[1]}"
        self.http = httpx.Client(base_url=self.url, trust_env=False, timeout=20, verify=NO_TLS)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.http.close()
        self._server.should_exit = True
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive(), "the facade does not end"

    @property
    def server(self) -> Any:
        """uvicorn's server."""
        return self._server

    @property
    def services(self) -> Services:
        """The parts of this replica; they belong to its thread."""
        return self._server.config.app.state.services  # type: ignore[no-any-return]

    @property
    def view(self) -> View:
        """What this replica sees of the cluster."""
        return self.services.cluster.view

    @property
    def bus(self) -> EventBus:
        """Its connection with Redis, where its settings have one."""
        bus = self.services.events.bus
        assert bus
        return bus

    def has_announced(self) -> bool:
        """Whether all that this replica shows has been announced; its watches may be behind its writes."""
        for kind in KINDS:
            announced = self.services.events.announcer.announced(kind)
            if any(announced is None or announced < Position(e.version) for e in self.view.entries(kind)):
                return False
        return True

    def _listens(self) -> bool:
        if self._failure:
            raise self._failure
        return bool(self._server and self._server.started)

    def _run(self) -> None:
        try:
            event_loop.run(self._serve())
        except BaseException as error:
            self._failure = error
            raise

    async def _serve(self) -> None:
        async with await connect(str(self._kubeconfig)) as client:
            self._server = server(self.settings, client)
            self._server.capture_signals = NoSignals
            await self._server.serve()


def metric(facade: FacadeThread, name: str) -> float | None:
    """The value of a metric, named with its labels."""
    for line in facade.http.get("/metrics").text.splitlines():
        if line.startswith(f"{name} "):
            return float(line.rsplit(" ", 1)[1])
    return None


Documents = list[Document]
"""For `StoredResources`, in which `list` is a method."""

StartFacade = Callable[..., FacadeThread]
"""Makes a replica with settings by name; start it as a context manager."""


class NoSignals:
    """Signals belong to the main thread, which is pytest's."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class StoredResources:
    """The cluster behind it, as its administrator and its operator see it."""

    def __init__(self, admin: httpx.Client, shows: str, release: str) -> None:
        self.admin, self.shows, self.release = admin, shows, release

    def path(self, plural: str, name: str = "", subresource: str = "") -> str:
        root = f"/apis/{API_VERSION}/namespaces/{self.shows}/{plural}"
        return "/".join(part for part in (root, name, subresource) if part)

    def get(self, plural: str, name: str) -> Document:
        return self.admin.get(self.path(plural, name)).raise_for_status().json()  # type: ignore[no-any-return]

    def exists(self, plural: str, name: str) -> bool:
        return self.admin.get(self.path(plural, name)).is_success

    def list(self, plural: str) -> Documents:
        return self.admin.get(self.path(plural)).raise_for_status().json()["items"]  # type: ignore[no-any-return]

    def apply(self, kind: str, plural: str, name: str, spec: Document) -> Document:
        document = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
        return self.admin.post(self.path(plural), json=document).raise_for_status().json()  # type: ignore[no-any-return]

    def patch(self, plural: str, name: str, patch: Document, subresource: str = "") -> Document:
        headers = {"Content-Type": "application/merge-patch+json"}
        response = self.admin.patch(
            self.path(plural, name, subresource), content=json.dumps(patch), headers=headers
        )
        assert response.is_success, response.text
        return response.json()  # type: ignore[no-any-return]

    def set_broadcast(self, project: str, broadcast: Document | None, **more: Any) -> None:
        """Writes status.broadcast, as the operator does."""
        self.patch("projects", project, {"status": {"broadcast": broadcast, **more}}, "status")

    def secrets(self, namespace: str | None = None) -> Documents:
        path = f"/api/v1/namespaces/{namespace or self.shows}/secrets"
        return self.admin.get(path).raise_for_status().json()["items"]  # type: ignore[no-any-return]

    def add_secret(
        self, namespace: str, name: str, type_: str, data: dict[str, str], **more: Any
    ) -> Document:
        document = {
            "metadata": {"name": name},
            "type": type_,
            "data": {k: base64.b64encode(v.encode()).decode() for k, v in data.items()},
            **more,
        }
        response = self.admin.post(f"/api/v1/namespaces/{namespace}/secrets", json=document)
        assert response.is_success, response.text
        return response.json()  # type: ignore[no-any-return]

    def add_api_key(self, service_id: str, **data: str) -> str:
        """A new API key of a service; only its hash is stored."""
        key = secrets.token_urlsafe(24)
        digest = hashlib.sha256(key.encode()).hexdigest()
        self.add_secret(
            self.release,
            f"api-key-{secrets.token_hex(6)}",
            "onair.dev/api-key",
            {"serviceId": service_id, "hash": digest, **data},
        )
        return key

    def delete_api_key(self, service_id: str) -> None:
        data = base64.b64encode(service_id.encode()).decode()
        keys = [each for each in self.secrets(self.release) if each["type"] == "onair.dev/api-key"]
        (key,) = [each for each in keys if each["data"]["serviceId"] == data]
        name = key["metadata"]["name"]
        self.admin.delete(f"/api/v1/namespaces/{self.release}/secrets/{name}").raise_for_status()


class Reachable(Protocol):
    """A facade as its clients reach it."""

    url: str
    http: httpx.Client


class User:
    """Calls as one user of one service."""

    def __init__(self, facade: Reachable, token: str) -> None:
        self.facade, self.token = facade, token
        self.headers = {"Authorization": f"Bearer {token}"}

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        headers = {**self.headers, **options.pop("headers", {})}
        url = path if path.startswith(("/live/", "/layout/", "/event/")) else f"/live/v2{path}"
        over_http = partial(self._over_http, method, url, body, headers)
        if DOOR.name == RPC and not options:
            return through_rpc(self.facade.http, method, url, body, headers, over_http)
        return over_http(**options)

    def _over_http(
        self, method: str, url: str, body: Any, headers: dict[str, str], **options: Any
    ) -> httpx.Response:
        content = options.pop("content", None if body is None else json.dumps(body))
        return self.facade.http.request(method, url, content=content, headers=headers, **options)

    def ok(self, method: str, path: str, body: Any = None, **options: Any) -> JsonObject:
        """The response of a call that must succeed."""
        response = self.call(method, path, body, **options)
        assert response.status_code == 200, response.text
        return response.json()  # type: ignore[no-any-return]

    def listed(self, path: str) -> Documents:
        """The response of a list that is a bare array."""
        response: object = self.ok("GET", path)
        assert isinstance(response, list)
        return response

    def collection(self, **body: Any) -> str:
        return str(self.ok("POST", "/collection", body)["collection"]["collectionId"])

    def project(self, collection: str | None = None, **body: Any) -> Show:
        collection = collection or self.collection()
        made = self.ok("POST", f"/collection/{collection}/project", body)["project"]
        return Show(self, collection, made["projectId"])


class Show:
    """One project: its ids and paths."""

    def __init__(self, user: User, collection: str, project: str) -> None:
        self.user, self.collection, self.id = user, collection, project
        self.path = f"/collection/{collection}/project/{project}"

    def get(self, query: str = "") -> JsonObject:
        return self.user.ok("GET", self.path + query)

    def patch(self, **body: Any) -> JsonObject:
        return self.user.ok("PATCH", self.path, body)

    def start(self) -> str:
        return str(self.user.ok("POST", f"{self.path}/broadcast/start")["broadcastId"])

    def stop(self) -> None:
        assert self.user.ok("POST", f"{self.path}/broadcast/stop") == {}

    def status(self) -> JsonObject:
        return self.user.ok("GET", f"{self.path}/broadcast/status")["status"]  # type: ignore[no-any-return]

    def destination(self, **body: Any) -> JsonObject:
        body.setdefault("address", {"rtmpPush": {"url": "rtmp://media.example/live", "key": "k-1"}})
        return self.user.ok("POST", f"{self.path}/destination", body)["destination"]  # type: ignore[no-any-return]
