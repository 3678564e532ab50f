"""Two room servers over one Redis: a room is on one of them, whichever signalling comes by."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.facade import Cluster, StartFacade, User
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

pytestmark = pytest.mark.media


async def test_participants_of_different_servers_meet_and_their_room_moves_when_its_server_dies(
    start_facade: StartFacade,
    cluster: Cluster,
    sign_in: Callable[..., User],
    redis_server: RedisServer,
    tmp_path: Path,
) -> None:
    add_credentials(cluster)
    redis = {"address": urlparse(redis_server.url).netloc}
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
            await anna.until("the way of media is known", lambda report: report["paths"])
            has = [each for each in (first, second) if at_server(anna.report, each)]
            assert len(has) == 1, f"one server has the room: {anna.report['paths']}"
            await ben.until("Ben is at the same", lambda report: at_server(report, has[0]))
            # Those whose signalling still comes by a server go on there
            stays, remains = (second, ben) if has[0] is first else (first, anna)
            await asyncio.to_thread(has[0].stop)
            await remains.until("the room has moved", lambda report: at_server(report, stays), 90)


def at_server(report: dict[str, Any], server: LiveKitServer) -> bool:
    """Whether all media of a participant goes to this server."""
    ports = {each["port"] for each in report["paths"]}
    return bool(ports) and ports <= {server.udp_port, server.tcp_port}
