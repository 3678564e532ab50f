"""Connections of native gRPC, as a client of HTTP/2 sees them end: in order, and at once where it leaves."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable

import h2.connection
import h2.events
import pytest
from google.protobuf import json_format
from tests.support.facade import FacadeThread, StartFacade, User
from tests.support.waiting import wait_for

from onair_api.connection import http2_connection
from onair_api.rpc.descriptors import messages_of

EVENTS = "apis.event.v2.EventService"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
GOAWAY = b"\0\0\x08\x07\0\0\0\0\0"
"""The head of the frame by which a connection ends in order."""


def connected(facade: FacadeThread) -> socket.socket:
    return socket.create_connection(("127.0.0.1", facade.server.native.port), 10)


def test_what_a_client_still_sends_costs_it_no_response(
    start_facade: StartFacade, sign_in: Callable[..., User], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that has not read the end of its stream yet, as its replica ends, says something more."""
    monkeypatch.setattr(http2_connection, "LINGER_S", 10.0)
    with start_facade(listen={"grpc_port": 0}) as facade:
        token = sign_in(facade=facade).token
        with connected(facade) as client:
            connection = opened_stream(client, token)
            facade.server.should_exit = True
            wait_for(lambda: GOAWAY in client.recv(65_536, socket.MSG_PEEK), "it says goodbye")
            for _ in range(3):
                connection.ping(bytes(8))
                client.sendall(connection.data_to_send())
                time.sleep(0.05)
            events: list[h2.events.Event] = []
            while data := client.recv(65_536):
                events += connection.receive_data(data)
    (trailers,) = [each for each in events if isinstance(each, h2.events.TrailersReceived)]
    assert dict(trailers.headers)[b"grpc-status"] == b"0"


def test_an_idle_connection_is_told_and_asks_no_more(start_facade: StartFacade) -> None:
    with start_facade(listen={"grpc_port": 0}) as facade, connected(facade) as client:
        connection = h2.connection.H2Connection()
        connection.initiate_connection()
        client.sendall(connection.data_to_send())
        assert client.recv(65_536)
        facade.server.should_exit = True
        assert GOAWAY in client.recv(65_536)


def test_what_a_client_leaves_is_released_at_once(
    start_facade: StartFacade, sign_in: Callable[..., User]
) -> None:
    """Idle, and while its stream is open."""
    with start_facade(listen={"grpc_port": 0}) as facade:
        token = sign_in(facade=facade).token
        with connected(facade) as idle, connected(facade) as asking:
            idle.sendall(PREFACE)
            opened_stream(asking, token)
            assert len(connections(facade)) == 2
        wait_for(lambda: not connections(facade), "both are gone", 5)


def connections(facade: FacadeThread) -> list[asyncio.Task[object]]:
    tasks = asyncio.all_tasks(facade.server.native._running.get_loop())
    return [each for each in tasks if "Http2Connection.run" in repr(each.get_coro())]


def opened_stream(client: socket.socket, token: str) -> h2.connection.H2Connection:
    """A connection with an event stream that has a ping, of which nothing is read."""
    connection = h2.connection.H2Connection()
    connection.initiate_connection()
    head = {":method": "POST", ":scheme": "http", ":authority": "onair", ":path": f"/{EVENTS}/Stream"}
    asked = {"content-type": "application/grpc", "te": "trailers", "sessionid": "s"}
    asked["authorization"] = f"Bearer {token}"
    connection.send_headers(1, [*(head | asked).items()])
    request = json_format.ParseDict({"ping": "hello"}, messages_of(EVENTS, "Stream").request())
    message = request.SerializeToString()
    connection.send_data(1, b"\0" + len(message).to_bytes(4, "big") + message)
    client.sendall(connection.data_to_send())
    wait_for(lambda: b"hello" in client.recv(65_536, socket.MSG_PEEK), "it is answered")
    return connection
