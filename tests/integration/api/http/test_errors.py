"""Every error that the served document promises of an operation is driven out of it, and no other."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.support.busybody import Busybody, changing, everything
from tests.support.control_plane import ControlPlane
from tests.support.doors import RPC
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.fixtures import doors
from tests.support.installation import grant, new_installation
from tests.support.operations import CALLS, STREAMED, TOKEN_OPERATIONS, OperationCall, OperationWorld
from tests.support.plain_http import NO_TLS
from tests.support.redis_server import RedisServer
from tests.support.tokens import assert_error, forged, invite, private_key, refresh
from tests.support.waiting import wait_for

from onair_api.settings import EventSettings, RateLimitSettings, RedisSettings
from onair_crds.shapes import JsonObject

door, pytest_generate_tests = doors.door, doors.pytest_generate_tests

STREAM = OperationCall("GET", "/event/v2/stream")
UNKNOWN = {"target": {"projectId": "unknown"}, "name": "e", "payload": {}}
REFUSED_BY_STATE = {"GetProjectBroadcastSnapshot", "StartProjectWebRtc", "StopProjectWebRtc"}
NEEDS_ROOM_SERVER = {"StartProjectWebRtc", "StopProjectWebRtc", "CreateWebRtcAccessToken"}
"""Refused here before they write anything."""


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis that this module may stop."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def own(start_facade: StartFacade, redis: RedisServer) -> Iterator[FacadeThread]:
    settings = RedisSettings(url=redis.url)
    events = EventSettings(drain_s=0.1)
    with start_facade(redis=settings, events=events) as facade:
        wait_for(lambda: facade.bus.connected, "Redis is connected")
        yield facade


@pytest.fixture(scope="module")
def promised(own: FacadeThread) -> dict[str, set[int]]:
    """The statuses of errors that each operation documents."""
    paths: JsonObject = own.http.get("/openapi.json").json()["paths"]
    return {
        operation["operationId"]: {int(status) for status in operation["responses"]} - {200}
        for path in paths.values()
        for operation in path.values()
    }


@pytest.fixture
def world(own: FacadeThread, sign_in: Callable[..., User]) -> OperationWorld:
    return OperationWorld(sign_in(facade=own), set(CALLS))


def promising(promised: dict[str, set[int]], status: int) -> dict[str, OperationCall]:
    """The calls whose operations promise this error."""
    return {o: call for o, call in {**CALLS, "StreamEvents": STREAM}.items() if status in promised[o]}


def test_every_operation_is_documented(promised: dict[str, set[int]]) -> None:
    assert set(promised) >= TOKEN_OPERATIONS
    assert {"StreamEvents"} == STREAMED
    assert {each for all_ in promised.values() for each in all_ if each >= 400} == {
        400,
        401,
        403,
        404,
        409,
        429,
        503,
    }


def test_unauthenticated(
    world: OperationWorld, own: FacadeThread, promised: dict[str, set[int]], door: str
) -> None:
    calls = promising(promised, 401)
    assert set(calls) == TOKEN_OPERATIONS
    for call in calls.values():
        response = world.call(User(own, "nobodys"), call)
        assert_error(response, 401, 16)
        assert door == RPC or response.headers["WWW-Authenticate"]


def test_permission_denied(
    world: OperationWorld, resources: StoredResources, promised: dict[str, set[int]]
) -> None:
    calls = promising(promised, 403)
    assert set(calls) == TOKEN_OPERATIONS
    nobody = forged(world.host, private_key(resources)[0], role="ROLE_PLATFORM")
    for call in calls.values():
        assert_error(world.call(nobody, call), 403, 7)


def test_not_found(world: OperationWorld, promised: dict[str, set[int]]) -> None:
    lost = copy.copy(world)
    lost.ids = dict.fromkeys(world.ids, "unknown")
    missing = set()
    for operation, call in CALLS.items():
        target = replace(call, body=UNKNOWN) if operation == "PublishEvent" else call
        response = lost.call(world.host, target)
        if response.status_code == 404:
            assert_error(response, 404, 5)
            missing.add(operation)
    assert missing == set(promising(promised, 404))


def test_invalid_argument_and_failed_precondition(
    world: OperationWorld, promised: dict[str, set[int]]
) -> None:
    wrong = set()
    for operation, call in CALLS.items():
        query = "&" if "?" in call.path else "?"
        flags = (
            "force",
            "status",
            "populateProjects",
            "webrtcStart",
            "webrtcStop",
            "type",
            "role",
            "pageSize",
        )
        asked = replace(call, path=call.path + query + "&".join(f"{each}=maybe" for each in flags))
        for sent in (asked, *([replace(call, body=[1])] if call.body is not None else ())):
            response = world.call(world.host, sent)
            if response.status_code == 400:
                assert_error(response, 400, 9 if operation in REFUSED_BY_STATE else response.json()["code"])
                wrong.add(operation)
        if operation in wrong and call.body is not None:
            too_large = world.host.facade.http.request(
                call.method, world.path(call), content=b" " * 3_000_000, headers=world.host.headers
            )
            assert_error(too_large, 400, 3)
            assert "larger than" in too_large.json()["message"]
    assert wrong == set(promising(promised, 400))


def test_aborted(
    world: OperationWorld,
    own: FacadeThread,
    resources: StoredResources,
    promised: dict[str, set[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where others are always first it is given up and nothing has changed; all else waits for nobody."""
    busybody = Busybody(own, resources, monkeypatch)
    busybody.wins(monkeypatch)
    before = everything(resources, world)
    aborted = set()
    for operation, call in CALLS.items():
        if operation not in promising(promised, 409).keys() - NEEDS_ROOM_SERVER:
            continue
        if operation == "StopProjectBroadcast":
            world.call(world.host, CALLS["StartProjectBroadcast"])
        begun, busybody.on = busybody.writes, True
        response = world.call(world.host, changing(operation, call))
        busybody.on = False
        assert_error(response, 409, 10)
        assert "try again" in response.json()["message"]
        assert busybody.writes - begun > 1
        aborted.add(operation)
        if operation == "StopProjectBroadcast":
            world.call(world.host, call)
            before = everything(resources, world)
        assert everything(resources, world) == before, operation
    assert aborted == promising(promised, 409).keys() - NEEDS_ROOM_SERVER
    busybody.on = True
    for operation, call in CALLS.items():
        if operation not in aborted:
            assert world.call(world.host, call).status_code != 409, operation


def test_an_update_outlasts_others_who_are_faster_many_times(
    world: OperationWorld, own: FacadeThread, resources: StoredResources, monkeypatch: pytest.MonkeyPatch
) -> None:
    busybody = Busybody(own, resources, monkeypatch)
    busybody.on, busybody.tires_after = True, 60
    response = world.call(world.host, changing("UpdateProject", CALLS["UpdateProject"]))
    assert (response.status_code, busybody.writes) == (200, 60)


def test_resource_exhausted(
    start_facade: StartFacade,
    resources: StoredResources,
    redis: RedisServer,
    sign_in: Callable[..., User],
    promised: dict[str, set[int]],
) -> None:
    limits = RateLimitSettings(window_s=60, per_token=40, per_service=0)
    settings = RedisSettings(url=redis.url)
    with start_facade(rate_limits=limits, redis=settings) as strict:
        wait_for(lambda: not strict.services.callers.rate_limits._open, "Redis was asked")
        world = OperationWorld(sign_in(facade=strict), set(CALLS))
        wait_for(
            lambda: world.host.call("GET", world.show.path).status_code == 429, "the limit is reached", 20
        )
        before = everything(resources, world)
        calls = promising(promised, 429)
        assert set(calls) == TOKEN_OPERATIONS
        for call in calls.values():
            response = world.call(world.host, call)
            assert_error(response, 429, 8)
            assert 0 < int(response.headers["Retry-After"]) <= 60
        assert everything(resources, world) == before


def test_operations_of_api_keys(
    control_plane: ControlPlane, admin: httpx.Client, recorded_logs: Any, redis: RedisServer
) -> None:
    """An installation whose signing key is gone issues nothing until it has another."""
    resources = new_installation(admin)
    key, poor = resources.add_api_key("studio"), resources.add_api_key("poor")
    limits = RateLimitSettings(window_s=60, per_token=0, per_service=30)
    settings: dict[str, Any] = {"rate_limits": limits, "redis": RedisSettings(url=redis.url)}
    with FacadeThread(grant(control_plane, resources), resources.shows, resources.release, **settings) as own:
        paths = own.http.get("/openapi.json").json()["paths"]
        create, test = "/live/v2/authentication/token", "/live/v2/authentication/token/test"
        assert set(paths[create]["post"]["responses"]) == {"200", "400", "401", "403", "429", "503"}
        assert set(paths[test]["get"]["responses"]) == {"200", "401", "429", "503"}

        def both(key: str, **body: Any) -> list[httpx.Response]:
            headers = {"X-API-Key": key}
            body.setdefault("serviceUserId", "anna")
            return [own.http.post(create, headers=headers, json=body), own.http.get(test, headers=headers)]

        assert_error(both(key, displayName=1)[0], 400, 3)
        assert_error(both(key, role="ROLE_PLATFORM")[0], 403, 7)
        for response in both("nobodys"):
            assert_error(response, 401, 16)
        wait_for(lambda: not own.services.callers.rate_limits._open, "Redis was asked")
        wait_for(lambda: both(poor)[0].status_code == 429, "the limit is reached", 20)
        for response in both(poor):
            assert_error(response, 429, 8)
            assert int(response.headers["Retry-After"]) > 0
        pem, name = private_key(resources)
        admin.delete(f"/api/v1/namespaces/{resources.release}/secrets/{name}").raise_for_status()
        wait_for(lambda: both(key)[0].status_code == 503, "the key is gone")
        for response in both(key):
            assert_error(response, 503, 14)
            assert int(response.headers["Retry-After"]) > 0
        resources.add_secret(resources.release, "another", "onair.dev/signing-key", {"private.pem": pem})
        wait_for(lambda: both(key)[0].is_success, "tokens are issued again")


def test_unavailable(
    world: OperationWorld,
    own: FacadeThread,
    control_plane: ControlPlane,
    redis: RedisServer,
    promised: dict[str, set[int]],
    sign_in: Callable[..., User],
) -> None:
    """Neither the API server nor Redis is there. The facade still responds with what it knows."""
    lost = copy.copy(world)
    lost.ids = dict.fromkeys(world.ids, "unknown")
    guest = invite(world.show)
    away = set()
    control_plane.stop_apiserver()
    redis.stop()
    try:
        wait_for(lambda: not own.bus.connected, "the loss of Redis is noticed")
        assert_error(refresh(guest), 503, 14)
        away.add("RefreshAccessToken")
        for operation, call in CALLS.items():
            for response in (world.call(world.host, changing(operation, call)), lost.call(world.host, call)):
                assert response.status_code in (200, 400, 503), (operation, response.text)
                if response.status_code == 503:
                    assert_error(response, 503, 14)
                    assert int(response.headers["Retry-After"]) > 0
                    assert "127.0.0.1" not in response.text
                    away.add(operation)
    finally:
        redis.start()
        control_plane.start_apiserver()
    assert away == set(promising(promised, 503))
    wait_for(lambda: httpx.get(f"{own.url}/readyz", verify=NO_TLS).is_success, "the facade is ready again")
    assert world.show.get()
