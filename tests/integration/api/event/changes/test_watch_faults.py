"""The watch is cut, falls silent, or is too far behind: what a subscriber saw is the cluster's in the end."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self
from urllib.parse import urlparse

import pytest
import yaml
from tests.support.control_plane import ControlPlane
from tests.support.event_client import SignIn, WebSocket
from tests.support.facade import Cluster, Facade, Show, wait_for
from tests.support.subscriber import PREFIX, SHOWS, compare, new_shows

from onair_api.settings import CacheSettings


class Proxy:
    """Between the facade and the API server: passes bytes on, cuts connections, or keeps silent."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open = True
        self._passing = threading.Event()
        self._passing.set()
        self._pairs: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if not self._open:
                    client.close()
                    continue
                try:
                    server = socket.create_connection(self._target)
                except OSError:
                    client.close()
                    continue
                self._pairs += [client, server]
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._passing.wait()
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self, *, refuse: bool = False) -> None:
        """Ends all connections; with `refuse` new ones too."""
        self._open = not refuse
        pairs, self._pairs = self._pairs, []
        for end in pairs:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def admit(self) -> None:
        self._open = True

    def silence(self) -> None:
        """Passes nothing on any more, and says nothing of it."""
        self._passing.clear()

    def speak(self) -> None:
        """The silent connections are gone; new ones work."""
        self.cut()
        self._passing.set()


@pytest.fixture
def proxy(control_plane: ControlPlane) -> Iterator[Proxy]:
    server = yaml.safe_load(control_plane.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    address = urlparse(server)
    with Proxy((address.hostname or "", address.port or 443)) as proxy:
        yield proxy


@pytest.fixture
def behind(
    rights: Path, cluster: Cluster, proxy: Proxy, tmp_path: Path, recorded_logs: object
) -> Iterator[Facade]:
    """A facade that reaches the API server by the proxy alone."""
    document = yaml.safe_load(rights.read_text())
    document["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{proxy.port}"
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(document))
    cache = CacheSettings(inactivity_s=1.5, stale_after_s=0.5, backoff_initial_s=0.02, backoff_max_s=0.2)
    with Facade(kubeconfig, cluster.shows, cluster.release, cache=cache) as facade:
        yield facade


@pytest.fixture
def shows(behind: Facade, sign_in: SignIn) -> list[Show]:
    return new_shows(sign_in(facade=behind))


def test_a_watch_that_is_cut_again_and_again_misses_nothing(
    behind: Facade, proxy: Proxy, shows: list[Show], cluster: Cluster
) -> None:
    def change() -> None:
        for number in range(120):
            cluster.patch("projects", shows[number % SHOWS].id, {"spec": {"metadata": {"n": number}}})
            if number % 15 == 7:
                proxy.cut()
        cluster.admin.delete(cluster.path("projects", shows[3].id)).raise_for_status()

    with WebSocket(behind, shows[0].user.token) as stream:
        stream.subscribe(PREFIX)
        compare([stream], shows, cluster, change)


def test_a_watch_that_falls_silent_is_opened_anew(
    behind: Facade, proxy: Proxy, shows: list[Show], cluster: Cluster
) -> None:
    def change() -> None:
        proxy.silence()
        for number in range(24):
            cluster.patch("projects", shows[number % SHOWS].id, {"spec": {"metadata": {"silent": number}}})
        wait_for(lambda: behind.http.get("/readyz").status_code == 503, "the facade notices")
        proxy.speak()

    with WebSocket(behind, shows[0].user.token) as stream:
        stream.subscribe(PREFIX)
        compare([stream], shows, cluster, change)
    wait_for(lambda: behind.http.get("/readyz").status_code == 200, "the facade is ready again")


def test_a_watch_too_far_behind_lists_again_and_tells_the_difference(
    behind: Facade, proxy: Proxy, shows: list[Show], cluster: Cluster, control_plane: ControlPlane
) -> None:
    def change() -> None:
        proxy.cut(refuse=True)
        for number, show in enumerate(shows):
            cluster.patch("projects", show.id, {"spec": {"metadata": {"missed": number}}})
        for show in shows[:2]:
            cluster.admin.delete(cluster.path("projects", show.id)).raise_for_status()
        # An API server that has just started knows no older versions: 410 for who asks from there
        control_plane.stop_apiserver()
        control_plane.start_apiserver()
        proxy.admit()

    before = gone(behind)
    with WebSocket(behind, shows[0].user.token) as stream:
        stream.subscribe(PREFIX)
        compare([stream], shows, cluster, change)
    assert gone(behind) > before, "the API server answered 410"


def gone(facade: Facade) -> float:
    lines = facade.http.get("/metrics").text.splitlines()
    found = [line for line in lines if line.startswith("onair_api_watch_restarts") and "gone" in line]
    return sum(float(line.rpartition(" ")[2]) for line in found)
