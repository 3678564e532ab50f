"""Connections of native gRPC, as a client of HTTP/2 sees them end: in order, and at once where it leaves."""

from __future__ import annotations

import asyncio
import fcntl
import socket
import sys
import termios
from collections.abc import Callable
from contextlib import suppress

import h2.connection
import h2.events
import pytest
from google.protobuf import json_format
from tests.support.facade import FacadeThread, StartFacade, User
from tests.support.waiting import wait_for

from onair_api.connection import http2_connection
from onair_api.rpc import native
from onair_api.rpc.descriptors import messages_of
from onair_crds.shapes import JsonObject

COLLECTIONS, EVENTS = "live.v21.CollectionService", "apis.event.v2.EventService"
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
            connection = opened(client, token, "Stream", {"ping": "hello"})
            wait_for(lambda: b"hello" in peeked(client), "it is answered")
            facade.server.should_exit = True
            wait_for(lambda: GOAWAY in peeked(client), "it says GOAWAY")
            for _ in range(3):
                connection.ping(bytes(8))
                client.sendall(connection.data_to_send())
                wait_for(lambda: not unacknowledged(client), "its kernel has it")
            events: list[h2.events.Event] = []
            while data := client.recv(65_536):
                events += connection.receive_data(data)
    (trailers,) = [each for each in events if isinstance(each, h2.events.TrailersReceived)]
    assert dict(trailers.headers)[b"grpc-status"] == b"0"


@pytest.mark.parametrize("ends", ["its replica ends", "it is idle for too long"])
def test_an_idle_connection_that_is_closed_takes_no_request_more(
    start_facade: StartFacade, sign_in: Callable[..., User], monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    if ends == "it is idle for too long":
        monkeypatch.setattr(native, "KEEP_ALIVE_S", 0.1)
    with start_facade(listen={"grpc_port": 0}) as facade:
        token = sign_in(facade=facade).token
        with connected(facade) as client:
            connection = speaking(client)
            facade.server.should_exit = ends == "its replica ends"
            wait_for(lambda: GOAWAY in peeked(client), "it says GOAWAY")
            request(connection, token, "Stream", {"ping": "hello"})
            client.sendall(connection.data_to_send())
            said = b""
            while data := client.recv(65_536):
                said += data
    events = connection.receive_data(said)
    assert [each for each in events if isinstance(each, h2.events.ConnectionTerminated)]
    assert not [each for each in events if isinstance(each, h2.events.ResponseReceived)]


@pytest.mark.parametrize("left", ["idle", "in a stream", "in a response that it does not read"])
def test_what_a_client_leaves_is_released_at_once(
    start_facade: StartFacade, sign_in: Callable[..., User], left: str
) -> None:
    with start_facade(listen={"grpc_port": 0}) as facade:
        user = sign_in(facade=facade)
        with connected(facade) as client:
            if left == "idle":
                speaking(client)
            elif left == "in a stream":
                opened(client, user.token, "Stream", {"ping": "hello"})
                wait_for(lambda: b"hello" in peeked(client), "it is answered")
            else:
                for _ in range(12):  # more than HTTP/2 lets pass before a client has read some
                    user.collection(metadata={"much": "x" * 10_000})
                opened(client, user.token, "GetCollections", {})
                wait_for(lambda: len(peeked(client)) > 60_000, "it is answered")
            assert connections(facade)
        wait_for(lambda: not connections(facade), "it is gone", 5)


def test_a_replica_ends_whose_client_reads_nothing(start_facade: StartFacade) -> None:
    """What is left for it fills the buffers on both sides."""
    with start_facade(listen={"grpc_port": 0}) as facade, connected(facade) as client:
        connection = speaking(client)
        connection.ping(bytes(8))
        pings = connection.data_to_send() * 4096
        client.settimeout(2)
        with suppress(TimeoutError):
            while True:
                client.sendall(pings)
        facade.server.should_exit = True
        facade._thread.join(15)
        assert not facade._thread.is_alive()


def speaking(client: socket.socket) -> h2.connection.H2Connection:
    """A connection on which both sides speak HTTP/2."""
    connection = h2.connection.H2Connection()
    connection.initiate_connection()
    client.sendall(connection.data_to_send())
    wait_for(lambda: peeked(client), "it answers")
    return connection


def opened(client: socket.socket, token: str, method: str, message: JsonObject) -> h2.connection.H2Connection:
    """A connection with a request, of whose response nothing is read."""
    connection = speaking(client)
    request(connection, token, method, message)
    client.sendall(connection.data_to_send())
    return connection


def request(connection: h2.connection.H2Connection, token: str, method: str, message: JsonObject) -> None:
    """Begins a call; a stream's client may say more."""
    service = EVENTS if method == "Stream" else COLLECTIONS
    head = {":method": "POST", ":scheme": "http", ":authority": "onair", ":path": f"/{service}/{method}"}
    asked = {"content-type": "application/grpc", "te": "trailers", "sessionid": "s"}
    asked["authorization"] = f"Bearer {token}"
    stream = connection.get_next_available_stream_id()
    connection.send_headers(stream, [*(head | asked).items()])
    encoded = json_format.ParseDict(message, messages_of(service, method).request()).SerializeToString()
    body = b"\0" + len(encoded).to_bytes(4, "big") + encoded
    connection.send_data(stream, body, end_stream=method != "Stream")


def peeked(client: socket.socket) -> bytes:
    """What has come, and stays unread."""
    return client.recv(1 << 20, socket.MSG_PEEK)


def unacknowledged(client: socket.socket) -> int:
    """Bytes that the other kernel has not said that it has; none of a connection that it has reset."""
    return int.from_bytes(fcntl.ioctl(client, termios.TIOCOUTQ, bytes(4)), sys.byteorder)


def connections(facade: FacadeThread) -> list[asyncio.Task[object]]:
    tasks = asyncio.all_tasks(facade.server.native._running.get_loop())
    return [each for each in tasks if "Http2Connection.run" in repr(each.get_coro())]
