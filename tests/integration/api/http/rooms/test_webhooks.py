"""Events of who joins a room, from a real room server's webhooks, on both replicas."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jwt
import orjson
import pytest
from tests.support.delivery.livekit_server import KEY, SECRET
from tests.support.event_client import WebSocket
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.fixtures.facade import redis_connected
from tests.support.redis_server import RedisServer
from tests.support.rooms.hosted_rooms import (
    HOSTED,
    add_credentials,
    guest,
    join,
    room_of,
    room_server,
    settings_for,
    signal_url,
)
from tests.support.rooms.member import member
from tests.support.waiting import wait_for

from onair_api.settings import RedisSettings
from onair_crds.contract.rooms import WEBHOOK_PATH

pytestmark = pytest.mark.media
EVENTS = "apistream:room:EVENT_TYPE_PARTICIPANT:EVENT_SUB_TYPE_"


@pytest.fixture(scope="module")
def heard(
    start_facade: StartFacade,
    resources: StoredResources,
    redis_server: RedisServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[FacadeThread, FacadeThread]]:
    """Two replicas, the first of which the room server sends its webhooks to."""
    folder: Path = tmp_path_factory.mktemp("livekit")
    server = room_server(folder)
    add_credentials(resources)
    settings = {"rooms": settings_for(server), "redis": RedisSettings(url=redis_server.url)}
    with start_facade(**settings) as one, start_facade(**settings) as two:
        server.configure(webhook={"api_key": KEY, "urls": [one.url + WEBHOOK_PATH]})
        for each in (one, two):
            wait_for(partial(redis_connected, each), "Redis is connected")
        with server:
            yield one, two


def post(
    facade: FacadeThread, body: dict[str, Any], *, signed: bytes | None = None, secret: str = SECRET
) -> int:
    content = orjson.dumps(body)
    digest = base64.b64encode(hashlib.sha256(signed or content).digest()).decode()
    claims = {"iss": KEY, "exp": int(time.time()) + 300, "sha256": digest}
    headers = {"Authorization": jwt.encode(claims, secret, algorithm="HS256")}
    return facade.http.post(WEBHOOK_PATH, content=content, headers=headers).status_code


def news(room: str, event: str, number: int, stay: str = "PA_1") -> dict[str, Any]:
    return {
        "event": event,
        "id": f"EV_{room}_{number}",
        "room": {"name": room},
        "participant": {"sid": f"{stay}_{room}", "identity": "ben", "name": "Ben"},
    }


async def test_the_audience_hears_who_joins_and_leaves(
    heard: tuple[FacadeThread, FacadeThread], sign_in: Callable[..., User]
) -> None:
    one, two = heard
    user = sign_in(facade=two)
    show = user.project(**HOSTED)
    token, _ = join(show, guest(show, name="ben"), displayName="Ben")
    hidden, _ = join(show, guest(show, "ROLE_RENDERER"), displayName="Renderer")
    with WebSocket(two, user.token) as stream:
        stream.subscribe("apistream:room:*", projectId=show.id)
        async with member(signal_url(one), hidden), member(signal_url(one), token):
            pass
        told = [stream.next()["result"]["event"] for _ in range(2)]
        stream.assert_silent()
    assert [each["name"] for each in told] == [f"{EVENTS}JOIN", f"{EVENTS}LEAVE"]
    assert told[0]["payload"]["participant"]["join"] == {
        "collectionId": show.collection,
        "projectId": show.id,
        "participantId": "ben",
        "displayName": "Ben",
    }


async def test_the_audience_hears_who_publishes_and_unpublishes(
    heard: tuple[FacadeThread, FacadeThread], sign_in: Callable[..., User]
) -> None:
    one, two = heard
    user = sign_in(facade=two)
    show = user.project(**HOSTED)
    token, _ = join(show, guest(show, name="ben"), displayName="Ben")
    with WebSocket(two, user.token) as stream:
        stream.subscribe(f"{EVENTS}PUBLISH|{EVENTS}UNPUBLISH", projectId=show.id)
        async with member(signal_url(one), token) as ben:
            microphone = await ben.publish_microphone()
            published = stream.next()["result"]["event"]
            await ben.room.local_participant.unpublish_track(microphone.sid)
            unpublished = stream.next()["result"]["event"]
        stream.assert_silent()
    assert [each["name"] for each in (published, unpublished)] == [f"{EVENTS}PUBLISH", f"{EVENTS}UNPUBLISH"]
    told = {
        "collectionId": show.collection,
        "projectId": show.id,
        "participantId": "ben",
        "source": "MICROPHONE",
    }
    assert published["payload"] == {"participant": {"publish": told}}
    assert unpublished["payload"] == {"participant": {"unpublish": told}}


def test_forged_repeated_and_late_webhooks_are_told_to_nobody(
    heard: tuple[FacadeThread, FacadeThread], sign_in: Callable[..., User]
) -> None:
    one, two = heard
    user = sign_in(facade=one)
    show = user.project(**HOSTED)
    room = room_of(join(show)[0])
    with WebSocket(one, user.token) as stream:
        stream.subscribe("apistream:room:*", projectId=show.id)
        joined = news(room, "participant_joined", 1)
        assert post(one, joined, secret="x" * 40) == 401
        assert post(one, joined, signed=b"another") == 401
        assert one.http.post(WEBHOOK_PATH, json=joined).status_code == 401
        assert [post(each, joined) for each in (one, two, one)] == [200, 200, 200]
        assert stream.next()["result"]["event"]["name"] == f"{EVENTS}JOIN"
        # Of another stay, which ends before it was told to begin
        assert post(two, news(room, "participant_left", 2, "PA_2")) == 200
        assert stream.next()["result"]["event"]["name"] == f"{EVENTS}LEAVE"
        assert post(one, news(room, "participant_joined", 3, "PA_2")) == 200
        assert post(one, news(room, "track_published", 4, "PA_2")) == 200
        assert post(one, news("of nobody", "participant_joined", 5)) == 200
        stream.assert_silent()


def test_clients_cannot_publish_events_of_rooms(
    heard: tuple[FacadeThread, FacadeThread], sign_in: Callable[..., User]
) -> None:
    user = sign_in(facade=heard[0])
    response = user.call("POST", "/event/v2/publish", {"name": f"{EVENTS}JOIN", "payload": {}})
    assert response.status_code == 400
