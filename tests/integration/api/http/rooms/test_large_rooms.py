"""A guest who says all that the room server lets them say of themselves, in many joins."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import yaml
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.helm import named, render
from tests.support.rooms.hosted_rooms import (
    HOSTED,
    add_credentials,
    guest,
    join,
    room_of,
    room_server,
    settings_for,
    signal_url,
    validate,
)
from tests.support.rooms.member import member
from tests.support.tokens import refreshed
from tests.support.waiting import until

pytestmark = pytest.mark.media

JOINS = 7
LISTED_BYTES = 4 * 1024 * 1024
SAYS = "\x01" * 62_000
"""The list of participants has six characters for each of these."""


async def test_others_still_get_tokens_for_the_room(
    studio: FacadeThread, server: LiveKitServer, sign_in: Callable[..., User]
) -> None:
    show = sign_in("anna", facade=studio).project(**HOSTED)
    eve = refreshed(guest(show, name="eve"))
    async with AsyncExitStack() as stay:
        for _ in range(JOINS):
            token, _ = join(show, eve)
            joined = await stay.enter_async_context(member(signal_url(studio), token, subscribe=False))
            await joined.room.local_participant.set_metadata(SAYS)
            await joined.room.local_participant.set_attributes({"a": SAYS[:60_000]})
            eve = refreshed(eve)

        def size() -> int:
            return len(json.dumps(server.call("ListParticipants", room=room_of(token))))

        await until(lambda: size() > LISTED_BYTES, "the list is large")
        assert join(show)[1] == "anna"
        assert join(show, eve)[1] == f"eve#{JOINS + 1}"


async def test_the_charts_server_takes_what_a_token_brings_and_little_more(
    start_facade: StartFacade, resources: StoredResources, sign_in: Callable[..., User], tmp_path: Path
) -> None:
    add_credentials(resources)
    config = yaml.safe_load(named(render(), "ConfigMap", "onair-livekit")["data"]["livekit.yaml"])
    with (
        room_server(tmp_path, limit=config["limit"]) as own,
        start_facade(rooms=settings_for(own)) as facade,
    ):
        show = sign_in("anna", facade=facade).project(**HOSTED)
        assert validate(facade, join(show)[0]).is_success, "the room exists"
        given = {"a": "a" * 16_370}
        token, _ = join(show, guest(show, name="eve"), displayName='"' * 256, participantMetadata=given)

        def seen() -> tuple[str, str]:
            (eve,) = own.call("ListParticipants", room=room_of(token))["participants"]
            return json.loads(eve["metadata"] or "{}").get("a", ""), eve["attributes"].get("a", "")

        async with member(own.url, token, subscribe=False) as eve:
            me = eve.room.local_participant
            assert seen() == (given["a"], "")
            await me.set_metadata(json.dumps({"a": SAYS}))
            await me.set_attributes({"a": SAYS[:5000]})
            await me.set_metadata('{"a": "a little"}')
            await until(lambda: seen() == ("a little", ""), "the last alone is taken")
