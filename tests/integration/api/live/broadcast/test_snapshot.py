"""Snapshots of a broadcast from its encoder, for which a server with an encoder's identity stands."""

from __future__ import annotations

import datetime as dt
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from tests.support.facade import Show, StoredResources, User
from tests.support.tokens import assert_error, invite, seen_by
from tests.support.waiting import wait_for

from onair_api.live.broadcast import snapshot
from onair_crds.contract.pod import CERTIFICATE, PRIVATE_KEY, SNAPSHOT_KEY, SNAPSHOT_PATH
from onair_operator.encoder.pod_identity import OperatorKey, pod_identity

ADDRESS = "127.0.0.1"
IMAGE = b"\xff\xd8" + bytes(range(256)) * 400 + b"\xff\xd9"
"""Every byte, also those that are no text."""


class Encoder(ThreadingHTTPServer):
    """Gives its image to whoever has the token of snapshots; none until there is one."""

    def __init__(self, identity: dict[str, str], folder: Path) -> None:
        super().__init__((ADDRESS, 0), Responses)
        self.identity, self.image = identity, b""
        for name in (CERTIFICATE, PRIVATE_KEY):
            (folder / name).write_text(identity[name])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / CERTIFICATE, folder / PRIVATE_KEY)
        self.socket = context.wrap_socket(self.socket, server_side=True)

    def response(self, path: str, token: str | None) -> tuple[int, bytes]:
        if (path, token) != (SNAPSHOT_PATH, f"Bearer {self.identity[SNAPSHOT_KEY]}"):
            return 401, b""
        return (200, self.image) if self.image else (503, b"")


class Responses(BaseHTTPRequestHandler):
    server: Encoder

    def do_GET(self) -> None:
        status, body = self.server.response(self.path, self.headers["Authorization"])
        self.send_response(status)
        self.send_header("Content-Type", "image/jpeg")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Encoder]:
    """Pods with its address are reached there."""
    identity = pod_identity(OperatorKey.generate(), dt.datetime.now(dt.UTC))
    with Encoder(identity, tmp_path) as server:
        at = f"https://{ADDRESS}:{server.server_port}"
        monkeypatch.setattr(snapshot, "control_url", lambda ip, path: f"{at}{path}")
        serving = threading.Thread(target=server.serve_forever, args=(0.05,))
        serving.start()
        yield server
        server.shutdown()
        serving.join()


def add_pod(resources: StoredResources, name: str, identity: dict[str, str]) -> str:
    """An encoder's pod with its identity, as the operator makes both; its uid."""
    pods = f"/api/v1/namespaces/{resources.shows}/pods"
    spec = {"containers": [{"name": "encoder", "image": "encoder"}]}
    made = resources.admin.post(pods, json={"metadata": {"name": name}, "spec": spec}).raise_for_status()
    resources.add_secret(resources.shows, name, "Opaque", identity)
    status = {"status": {"podIP": ADDRESS, "podIPs": [{"ip": ADDRESS}]}}
    headers = {"Content-Type": "application/merge-patch+json"}
    resources.admin.patch(f"{pods}/{name}/status", json=status, headers=headers).raise_for_status()
    return str(made.json()["metadata"]["uid"])


def on_air(resources: StoredResources, show: Show, **encoder: str) -> None:
    resources.set_broadcast(show.id, {"id": show.start(), "epoch": 1, "phase": "Running", **encoder})
    wait_for(lambda: show.status()["phase"].endswith("_RUNNING"), "the show runs")


def asked(show: Show) -> httpx.Response:
    return show.user.call("GET", f"{show.path}/broadcast/snapshot?format=IMAGE_FORMAT_JPEG")


def assert_refused(response: httpx.Response, status: int, code: int, message: str) -> None:
    """It says the same through each door."""
    assert_error(response, status, code)
    assert response.json()["message"] == message


def test_a_snapshot_is_the_image_of_the_encoder_byte_for_byte(
    show: Show, resources: StoredResources, encoder: Encoder
) -> None:
    name = f"{show.id}-a-1"
    on_air(resources, show, pod=name, encoder=add_pod(resources, name, encoder.identity))
    assert_refused(asked(show), 503, 14, "the encoder has no image yet; try again")
    encoder.image = IMAGE
    for each in (show, seen_by(invite(show, "CONTRIBUTOR"), show)):
        response = asked(each)
        assert response.status_code == 200, response.text
        assert response.headers["Content-Type"] == "image/jpeg"
        assert response.content == IMAGE


def test_a_snapshot_is_refused_with_the_same_words_through_both_doors(
    show: Show, resources: StoredResources, sign_in: Callable[..., User]
) -> None:
    not_on_air = "the project has no running broadcast to take a snapshot of"
    assert_refused(asked(show), 400, 9, not_on_air)
    on_air(resources, show)
    assert_refused(asked(show), 503, 14, "the broadcast is moving to another encoder; try again")
    stranger = seen_by(sign_in(), show)
    nowhere = Show(show.user, show.collection, "nowhere")
    assert_refused(asked(stranger), 404, 5, "the collection does not exist")
    assert_refused(asked(nowhere), 404, 5, "the project does not exist")
    show.stop()
    resources.set_broadcast(show.id, {"id": "ended", "epoch": 1, "phase": "Stopped"})
    wait_for(lambda: asked(show).status_code == 400, "the show has ended")
    assert_refused(asked(show), 400, 9, not_on_air)
