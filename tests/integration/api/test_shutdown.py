"""A replica that ends costs no request on connections that clients keep."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.event_client import SignIn
from tests.support.facade import FacadeThread, StartFacade, User
from tests.support.waiting import wait_for

from onair_api.settings import EventSettings

CLIENTS = 16


@pytest.fixture
def ending(start_facade: StartFacade) -> Iterator[FacadeThread]:
    with start_facade(events=EventSettings(drain_s=1.0)) as facade:
        yield facade


def requests_until_closed(user: User, busy: threading.Semaphore) -> int:
    """Sends requests on one connection, without a pause, until the server asks to close it; counts them."""
    host = user.facade.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=10)
    for sent in range(1_000_000):
        connection.request("GET", "/live/v2/collection", headers=user.headers)
        response = connection.getresponse()
        assert response.status == 200
        response.read()
        if sent == 3:
            busy.release()
        if response.getheader("Connection") == "close":
            return sent
    raise AssertionError("the connection was never closed")


def test_clients_with_kept_connections_lose_no_request(ending: FacadeThread, sign_in: SignIn) -> None:
    users = [sign_in(facade=ending) for _ in range(CLIENTS)]
    busy = threading.Semaphore(0)
    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(requests_until_closed, user, busy) for user in users]
        for _ in clients:
            busy.acquire(timeout=20)
        ending.server.should_exit = True
        assert all(client.result() for client in clients)


def test_an_idle_connection_holds_the_end_up_for_a_moment_alone(ending: FacadeThread) -> None:
    assert ending.http.get("/healthz").is_success
    ending.server.should_exit = True
    wait_for(lambda: not ending._thread.is_alive(), "the replica has ended", 5)
