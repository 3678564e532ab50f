"""Two room servers over one Redis: a room is on one of them, whichever signalling comes by."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlparse

import pytest
from tests.support.facade import StartFacade, StoredResources, User
from tests.support.redis_server import RedisServer
from tests.support.rooms.hosted_rooms import (
    HOSTED,
    add_credentials,
    guest,
    join,
    room_server,
    settings_for,
    signal_url,
)
from tests.support.rooms.participant import participant

from onair_api.settings import RedisSettings
from onair_crds.runtime.server_settings import completed

pytestmark = pytest.mark.media


async def test_participants_of_different_servers_meet_and_their_room_moves_when_its_server_dies(
    start_facade: StartFacade,
    resources: StoredResources,
    sign_in: Callable[..., User],
    redis_server: RedisServer,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    add_credentials(resources)
    password = secrets.token_hex(8)
    own = RedisServer(tmp_path, password)
    own.start()
    request.addfinalizer(own.stop)
    redis = completed(
        {"redis": {"address": urlparse(own.url).netloc}},
        {"redis.password": password},  # as the chart's init container does it
    )["redis"]
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    shared = RedisSettings(url=redis_server.url)
    with (
        room_server(folders[0], redis=redis) as first,
        room_server(folders[1], redis=redis) as second,
        start_facade(rooms=settings_for(first), redis=shared) as one,
        start_facade(rooms=settings_for(second), redis=shared) as two,
    ):
        show = sign_in("anna", facade=one).project(**HOSTED)
        anna_token, _ = join(show)
        ben_token, _ = join(show, guest(show, name="ben"))
        async with (
            participant(signal_url(one), anna_token, insist=True) as anna,
            participant(signal_url(two), ben_token, insist=True) as ben,
        ):
            await anna.until("Ben is seen", lambda report: report["frames"]["ben camera"] > 5)
            await ben.until("Anna is seen", lambda report: report["frames"]["anna camera"] > 5)
            await ben.until("Anna is heard", lambda report: report["loud"]["anna microphone"])
            has, other = (first, second) if first.rooms else (second, first)
            assert (has.rooms, other.rooms) == (1, 0), "the room is on one of them"
            # Those whose signalling still comes by a server go on there
            remains = anna if other is first else ben
            await asyncio.to_thread(has.stop)
            await remains.until("the room has moved", lambda _: other.rooms == 1, 90)
            await remains.until("it is in the room again", lambda report: report["state"] == "connected", 30)
