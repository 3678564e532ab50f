"""Who may publish, as the facade tells gateways."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.ingest.gateway_client import PublishHookClient, hook_url, ingest_secret
from tests.support.json_values import JSON
from tests.support.redis_server import RedisServer
from tests.support.waiting import WITHIN_S, wait_for

from onair_api.ingest import hook
from onair_api.settings import IngestSettings, RedisSettings
from onair_crds.contract.ingest_gateway import HOOK_PATH, gateway_token
from onair_crds.shapes import JsonObject

SignIn = Callable[..., User]


def source_of(user: User, **address: JsonObject) -> JsonObject:
    collection = user.collection()
    body = {"address": address or {"rtmpPush": {"enabled": True}}}
    return user.ok("POST", f"/collection/{collection}/source", body)["source"]  # type: ignore[no-any-return]


def path_of(source: JsonObject) -> str:
    return f"/collection/{source['collectionId']}/source/{source['sourceId']}"


def key_of(source: JsonObject) -> str:
    address = source["address"]
    if push := address.get("rtmpPush"):
        return str(push["key"])
    return str(address["srtPush"]["streamId"]).removeprefix("publish:")


def test_the_key_of_an_rtmp_source_admits_by_rtmp_and_rtmps_and_not_by_srt(
    gateway: PublishHookClient, hook_facade: FacadeThread, sign_in: SignIn
) -> None:
    key = key_of(source_of(sign_in(facade=hook_facade)))
    assert [gateway.ask(key, each) for each in ("rtmp", "rtmps", "srt")] == [
        "Admitted",
        "Admitted",
        "WrongProtocol",
    ]


def test_the_key_of_an_srt_source_admits_by_srt_alone(
    gateway: PublishHookClient, hook_facade: FacadeThread, sign_in: SignIn
) -> None:
    key = key_of(source_of(sign_in(facade=hook_facade), srtPush={"enabled": True}))
    assert [gateway.ask(key, each) for each in ("srt", "rtmp")] == ["Admitted", "WrongProtocol"]


def test_a_disabled_source_is_refused_until_it_is_enabled(
    gateway: PublishHookClient, hook_facade: FacadeThread, sign_in: SignIn
) -> None:
    user = sign_in(facade=hook_facade)
    source = source_of(user)
    user.ok("PATCH", path_of(source), {"address": {"rtmpPush": {"enabled": False}}})
    assert gateway.ask(key_of(source)) == "Disabled"
    user.ok("PATCH", path_of(source), {"address": {"rtmpPush": {"enabled": True}}})
    assert gateway.ask(key_of(source)) == "Admitted"


def test_a_deleted_source_has_no_key_any_more(
    gateway: PublishHookClient, hook_facade: FacadeThread, sign_in: SignIn
) -> None:
    user = sign_in(facade=hook_facade)
    source = source_of(user)
    user.ok("DELETE", path_of(source))
    assert gateway.ask(key_of(source)) == "UnknownKey"


def test_a_source_that_another_gateway_receives_is_in_use(
    gateway: PublishHookClient, hook_facade: FacadeThread, resources: StoredResources, sign_in: SignIn
) -> None:
    source = source_of(sign_in(facade=hook_facade))
    key, name = key_of(source), source["sourceId"]

    def tell(connect: str, holder: str) -> None:
        hook_facade.view.update("Source", _with_status(hook_facade, name, connect, holder))

    tell("Connected", "onair-ingest-1")
    assert gateway.ask(key) == "InUse"
    tell("Connected", "onair-ingest-0")
    assert gateway.ask(key) == "Admitted"
    tell("Disconnected", "onair-ingest-1")
    assert gateway.ask(key) == "Admitted"


def _with_status(facade: FacadeThread, name: str, connect: str, gateway: str) -> JsonObject:
    entry = facade.view.get("Source", name)
    assert entry
    metadata = {**entry.metadata, "resourceVersion": str(entry.version + 1)}
    return {**entry.document, "metadata": metadata, "status": {"connect": connect, "gateway": gateway}}


def test_a_key_whose_secret_is_replaced_is_unknown_and_the_new_one_admits(
    gateway: PublishHookClient, hook_facade: FacadeThread, resources: StoredResources, sign_in: SignIn
) -> None:
    source = source_of(sign_in(facade=hook_facade))
    name = f"source-{source['sourceId']}"
    assert resources.admin.delete(f"/api/v1/namespaces/{resources.shows}/secrets/{name}").is_success
    resources.add_secret(resources.shows, name, "onair.dev/credentials", {"streamKey": "rolled-key"})
    wait_for(lambda: gateway.ask("rolled-key") == "Admitted", "the new key admits")
    assert gateway.ask(key_of(source)) == "UnknownKey"


def test_only_gateways_are_answered_and_only_at_their_own_port(
    hook_facade: FacadeThread, gateway: PublishHookClient
) -> None:
    body = {"streamKey": "k", "protocol": "rtmp", "gateway": "g"}
    url = hook_url(hook_facade) + HOOK_PATH
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        assert httpx.post(url, json=body, headers=headers).status_code == 401
    assert gateway.http.post(HOOK_PATH, content=b"{").status_code == 400
    assert gateway.http.post(HOOK_PATH, content=b"x" * 100_000).status_code == 413
    public = hook_facade.http.post(HOOK_PATH, json=body, headers=dict(gateway.http.headers))
    assert public.status_code == 404


def test_a_thousand_wrong_keys_take_no_others_time(
    hook_facade: FacadeThread, resources: StoredResources, gateway: PublishHookClient, sign_in: SignIn
) -> None:
    """Each is one look into a table: a hundred a second are a small part of one core."""
    for number in range(20):
        resources.add_secret(
            resources.shows, f"source-load-{number}", "onair.dev/credentials", {"streamKey": f"load-{number}"}
        )
    began_s = time.process_time()
    for number in range(1000):
        assert gateway.ask(f"wrong-{number}") == "UnknownKey"
    assert time.process_time() - began_s < 10  # of client and facade together; a hundred a second: < 1 s
    assert sign_in(facade=hook_facade).ok("GET", "/collection") == {"collections": []}


def test_publishers_are_let_in_while_redis_is_away(
    start_facade: StartFacade, resources: StoredResources, sign_in: SignIn, tmp_path: Path
) -> None:
    redis = RedisServer(tmp_path)
    redis.start()
    settings = {"ingest": IngestSettings(hook_port=0), "redis": RedisSettings(url=redis.url)}
    with start_facade(**settings) as facade:
        gateway = PublishHookClient(facade, ingest_secret(resources))
        key = key_of(source_of(sign_in(facade=facade)))
        for ends in (redis.freeze, redis.stop):
            redis.thaw()
            assert gateway.ask(key) == "Admitted"
            ends()
            took_s = []
            for _ in range(3):
                began_s = time.monotonic()
                assert gateway.ask(key) == "Admitted"
                took_s.append(time.monotonic() - began_s)
            assert took_s[0] < WITHIN_S, "an ingest server stands still for so long"
            assert min(took_s) < 0.5, took_s


def test_a_request_that_does_not_come_whole_is_not_waited_for(
    hook_facade: FacadeThread, resources: StoredResources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook, "BODY_TIMEOUT_S", 0.1)
    token = gateway_token(ingest_secret(resources), "facade")
    head = f"POST {HOOK_PATH} HTTP/1.1\r\nHost: facade\r\nAuthorization: Bearer {token}\r\n"
    with socket.create_connection(("127.0.0.1", hook_facade.services.ingest_hook.port), 5) as connection:
        connection.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        assert connection.recv(100).split()[1] == b"408"


QUESTIONS = st.dictionaries(st.sampled_from(["streamKey", "protocol", "gateway"]), st.just("rtmp") | JSON)


@pytest.mark.fuzz
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(QUESTIONS.map(lambda found: json.dumps(found).encode()) | st.binary(max_size=40))
@example(b"[" * 16_000)
@example(b"{" * 17_000)
@example(b'{"streamKey": "\\ud800", "protocol": "rtmp", "gateway": ""}')
def test_whatever_a_gateway_asks_is_decided_or_refused(gateway: PublishHookClient, body: bytes) -> None:
    refused = (400, 403) if len(body) < hook.MAX_REQUEST else (413,)
    assert gateway.http.post(HOOK_PATH, content=body).status_code in refused


@pytest.mark.fuzz
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=30).map(lambda shown: bytes(each for each in shown if each > 0x20 and each != 0x7F))
)
@example(b"Bearer \xff")
def test_nothing_is_said_to_who_is_no_gateway(gateway: PublishHookClient, shown: bytes) -> None:
    headers = {b"Authorization": shown}
    assert gateway.http.post(HOOK_PATH, content=b"{}", headers=headers).status_code in (400, 401)
