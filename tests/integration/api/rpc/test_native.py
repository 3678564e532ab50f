"""Native gRPC by an unmodified client: calls, errors, the event stream, and what the port does not serve."""

from __future__ import annotations

import queue
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import grpc
import httpx
import pytest
from google.protobuf import json_format
from google.protobuf.message import Message
from tests.support.facade import FacadeThread, StartFacade, User, metric
from tests.support.rpc import json_of
from tests.support.waiting import wait_for

import onair_api.rpc.native
from onair_api.rpc.descriptors import messages_of
from onair_crds.shapes import JsonObject

COLLECTIONS, EVENTS = "live.v21.CollectionService", "apis.event.v2.EventService"
DEADLINE_S = 20.0
TOO_LARGE: dict[str, object] = {"metadata": {"large": "x" * 2_000_000}}
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


@pytest.fixture(scope="module")
def native(start_facade: StartFacade) -> Iterator[FacadeThread]:
    """A replica with a port of native gRPC."""
    with start_facade(listen={"grpc_port": 0}) as facade:
        yield facade


@pytest.fixture
def host(native: FacadeThread, sign_in: Callable[..., User]) -> User:
    return sign_in(facade=native)


@pytest.fixture
def channel(native: FacadeThread) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(address(native)) as channel:
        yield channel


def address(facade: FacadeThread) -> str:
    return f"127.0.0.1:{facade.server.native.port}"


def call(channel: grpc.Channel, method: str, request: dict[str, object], token: str = "") -> Message:
    kinds = messages_of(COLLECTIONS, method)
    invoke = channel.unary_unary(
        f"/{COLLECTIONS}/{method}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=kinds.response.FromString,
    )
    response: Message = invoke(
        json_format.ParseDict(request, kinds.request()), metadata=authorization(token), timeout=DEADLINE_S
    )
    return response


def authorization(token: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {token}")] if token else []


def event_stream(
    channel: grpc.Channel, token: str
) -> tuple[queue.Queue[Message | None], Any, Callable[[JsonObject], JsonObject]]:
    """What is put in is said, None at the end; the stream; and says something, returns what comes next."""
    kinds = messages_of(EVENTS, "Stream")
    said: queue.Queue[Message | None] = queue.Queue()
    stream = channel.stream_stream(
        f"/{EVENTS}/Stream",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=kinds.response.FromString,
    )(iter(said.get, None), metadata=[*authorization(token), ("sessionid", "s")], timeout=DEADLINE_S)

    def say(message: JsonObject) -> JsonObject:
        said.put(json_format.ParseDict(message, kinds.request()))
        return json_of(next(stream))

    return said, stream, say


def is_closed(client: socket.socket) -> bool:
    """Waits until the server closes, whatever it says before."""
    with suppress(ConnectionResetError):
        while client.recv(65_536):
            pass
    return True


def test_what_a_call_creates_is_there_over_http(channel: grpc.Channel, host: User) -> None:
    made = json_of(call(channel, "CreateCollection", {"metadata": {"name": "Sunday"}}, host.token))[
        "collection"
    ]
    read = host.ok("GET", f"/collection/{made['collectionId']}")["collection"]
    assert read["metadata"] == made["metadata"] == {"name": "Sunday"}
    again = json_of(call(channel, "GetCollection", {"collectionId": made["collectionId"]}, host.token))
    assert again["collection"]["collectionId"] == made["collectionId"]


@pytest.mark.parametrize(
    ("method", "request_", "signed_in", "code"),
    [
        ("GetCollection", {"collectionId": "nobodys"}, True, grpc.StatusCode.NOT_FOUND),
        ("GetCollection", {"collectionId": ""}, True, grpc.StatusCode.INVALID_ARGUMENT),
        ("GetCollection", {"collectionId": "nobodys"}, False, grpc.StatusCode.UNAUTHENTICATED),
        ("CreateCollection", TOO_LARGE, True, grpc.StatusCode.RESOURCE_EXHAUSTED),
    ],
)
def test_errors_have_their_codes(
    channel: grpc.Channel,
    host: User,
    method: str,
    request_: dict[str, object],
    signed_in: bool,
    code: grpc.StatusCode,
) -> None:
    with pytest.raises(grpc.RpcError) as failed:
        call(channel, method, request_, host.token if signed_in else "")
    assert failed.value.code() is code
    assert failed.value.details()


def test_one_that_is_too_large_has_its_code_however_much_of_it_is_on_its_way(
    channel: grpc.Channel, host: User
) -> None:
    for _ in range(20):
        with pytest.raises(grpc.RpcError) as failed:
            call(channel, "CreateCollection", {"metadata": {"large": "x" * 4_000_000}}, host.token)
        assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("path", ["/live.v21.CollectionService/None", "/nobody.Service/Get", "/x"])
def test_a_method_that_is_not_there_is_not_implemented(channel: grpc.Channel, path: str) -> None:
    with pytest.raises(grpc.RpcError) as failed:
        channel.unary_unary(path)(b"", timeout=DEADLINE_S)
    assert failed.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_the_event_stream_replies_while_it_is_sent_to_and_ends_with_its_client(
    native: FacadeThread, channel: grpc.Channel, host: User
) -> None:
    show = host.project()
    said, stream, say = event_stream(channel, host.token)
    assert say({"ping": "hello", "correlationId": "1"})["pong"] == "hello"
    name = "apistream:*:EVENT_SUB_TYPE_UPDATE"
    assert say({"subscribe": {"name": name, "target": {"projectId": show.id}}})["subscribed"]["name"] == name
    host.ok("PATCH", show.path, {"metadata": {"now": 1}, "updateMask": "metadata"})
    event = next(told for each in stream if "event" in (told := json_of(each)))
    assert event["event"]["name"].startswith("apistream:")
    assert native.services.events.streams.open_sessions == 1
    said.put(None)  # which ends what is asked, and not what is told
    stream.cancel()
    wait_for(lambda: native.services.events.streams.idle, "the stream has ended")


@pytest.mark.parametrize("http2", [True, False])
@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "/live/v2/collection", "application/json"),
        ("POST", f"/grpcweb/live/v2/{COLLECTIONS}/CreateCollection", "application/grpc-web+proto"),
        ("GET", "/metrics", "text/plain"),
    ],
)
def test_the_port_serves_nothing_else(
    native: FacadeThread, host: User, http2: bool, method: str, path: str, kind: str
) -> None:
    with httpx.Client(http1=not http2, http2=http2) as http:
        headers = {**host.headers, "content-type": kind}
        response = http.request(method, f"http://{address(native)}{path}", headers=headers)
    assert (response.status_code, response.json()["code"]) == (415, 12)


def test_a_replica_ends_in_order_with_a_stream_that_is_open(
    start_facade: StartFacade, sign_in: Callable[..., User]
) -> None:
    with start_facade(listen={"grpc_port": 0}) as facade:
        user = sign_in(facade=facade)
        with grpc.insecure_channel(address(facade)) as channel:
            said, stream, say = event_stream(channel, user.token)
            assert say({"ping": "hello"})["pong"] == "hello"
            facade.server.should_exit = True
            told = [json_of(each) for each in stream]
            said.put(None)
    assert stream.code() is grpc.StatusCode.OK, told


def test_a_request_without_a_message_is_given_up(
    native: FacadeThread, channel: grpc.Channel, host: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onair_api.rpc.native, "REQUEST_TIMEOUT_S", 0.5)
    silent: queue.Queue[bytes | None] = queue.Queue()
    call_ = channel.stream_unary(f"/{COLLECTIONS}/GetCollections")
    future = call_.future(iter(silent.get, None), metadata=authorization(host.token), timeout=DEADLINE_S)
    assert future.exception().code() not in (grpc.StatusCode.OK, grpc.StatusCode.DEADLINE_EXCEEDED)
    silent.put(None)


def test_what_no_client_would_send_disturbs_nobody(
    native: FacadeThread, channel: grpc.Channel, host: User
) -> None:
    """Connections that say nothing or anything, and calls that are given up by the hundred."""
    addressed = ("127.0.0.1", native.server.native.port)
    with ExitStack() as stack:
        for said in (b"", PREFACE, PREFACE + b"\0\xff\xff\x01\x05", b"\x16\x03\x01garbage", bytes(100_000)):
            connection = stack.enter_context(socket.create_connection(addressed, 5))
            with suppress(OSError):
                connection.sendall(said)
        kinds = messages_of(COLLECTIONS, "GetCollections")
        asked = channel.unary_unary(
            f"/{COLLECTIONS}/GetCollections",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=kinds.response.FromString,
        )
        given_up = [
            asked.future(kinds.request(), metadata=authorization(host.token), timeout=DEADLINE_S)
            for _ in range(500)
        ]
        for each in given_up:
            each.cancel()
        assert asked(kinds.request(), metadata=authorization(host.token), timeout=DEADLINE_S)


def test_a_replica_whose_port_of_grpc_is_gone_ends(start_facade: StartFacade) -> None:
    """So that its pod starts anew."""
    with start_facade(listen={"grpc_port": 0}) as facade:
        facade.server.native._running.get_loop().call_soon_threadsafe(facade.server.native._running.cancel)
        wait_for(lambda: facade.server.should_exit, "it ends")


def test_of_too_many_idle_connections_the_oldest_are_closed_and_no_stream_is(
    start_facade: StartFacade, sign_in: Callable[..., User]
) -> None:
    """Of five hundred that say nothing, or that they speak HTTP/2 and no more."""
    most = 32
    with (
        start_facade(listen={"grpc_port": 0}, limits={"idle_connections": most}) as facade,
        ExitStack() as stack,
    ):
        channel = stack.enter_context(grpc.insecure_channel(address(facade)))
        token = sign_in(facade=facade).token
        said, _, say = event_stream(channel, token)
        assert say({"ping": "before", "correlationId": "1"})["pong"] == "before"
        addressed = ("127.0.0.1", facade.server.native.port)
        strangers = [stack.enter_context(socket.create_connection(addressed, 5)) for _ in range(500)]
        for each in strangers[::2]:
            with suppress(OSError):
                each.sendall(PREFACE)
        assert all(map(is_closed, strangers[: 500 - most]))
        assert (metric(facade, "onair_api_idle_connections_closed_total") or 0) >= 500 - most
        assert say({"ping": "after", "correlationId": "2"})["pong"] == "after"
        said.put(None)
