"""Browsers with LiveKit's unmodified client join hosted rooms through the facade."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.rooms.hosted_rooms import (
    HOSTED,
    add_credentials,
    administer,
    guest,
    join,
    room_server,
    settings_for,
    signal_url,
)
from tests.support.rooms.participant import participant
from tests.support.waiting import until
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

pytestmark = pytest.mark.media


async def test_two_participants_see_and_hear_each_other_and_a_removed_one_stays_out(
    studio: FacadeThread, sign_in: Callable[..., User]
) -> None:
    show = sign_in("anna", facade=studio).project(**HOSTED)
    berta = guest(show, name="berta")
    anna_token, anna = join(show, displayName="Anna")
    berta_token, _ = join(show, berta, displayName="Berta", participantMetadata={"isMirrored": True})
    assert anna == "anna"
    async with (
        participant(signal_url(studio), anna_token) as one,
        participant(signal_url(studio), berta_token) as two,
    ):
        await one.until("Berta is seen", lambda report: report["frames"]["berta camera"] > 5)
        await two.until("Anna is seen", lambda report: report["frames"]["anna camera"] > 5)
        await two.until("Anna is heard", lambda report: report["loud"]["anna microphone"])
        seen = one.report["participants"]["berta"]
        assert seen["name"] == "Berta"
        assert '"participantRole":"ROLE_GUEST"' in seen["metadata"]
        assert '"isMirrored":true' in seen["metadata"]
        removed = administer(studio, anna_token, "RemoveParticipant", identity="berta")
        assert removed.status_code == 200, removed.text
        await two.until("Berta is out", lambda report: report["state"] == "disconnected")
        await one.until("Anna is told", lambda report: "berta" not in report["participants"])
    async with participant(signal_url(studio), berta_token) as again:
        await again.until("Berta is refused and told why", lambda report: "removed" in refusal(report))


async def test_nobody_is_in_a_room_by_another_identity_than_their_tokens(
    studio: FacadeThread, sign_in: Callable[..., User]
) -> None:
    """The room server would take `publish` as a part of the identity, by which nobody removes its bearer."""
    show = sign_in("anna", facade=studio).project(**HOSTED)
    host, _ = join(show, displayName="Anna")
    token, identity = join(show, guest(show, name="carl"))
    query = f"access_token={token}&%70ublish=2&publish=3&protocol=15&sdk=js&version=2.0"
    async with connect(f"{signal_url(studio)}/rtc?{query}", proxy=None) as socket:
        await socket.recv()

        def present() -> list[str]:
            found = administer(studio, host, "ListParticipants").raise_for_status().json()
            return [each["identity"] for each in found.get("participants", ())]

        # The server answers a little before it counts them
        assert await until(present, "somebody is in the room") == [identity]


async def test_a_refusal_says_what_it_is_in_its_status(
    start_facade: StartFacade, resources: StoredResources, sign_in: Callable[..., User], tmp_path: Path
) -> None:
    """An encoder goes to the room server itself where the facade fails, and nowhere where it is refused."""
    add_credentials(resources)
    with room_server(tmp_path) as server, start_facade(rooms=settings_for(server)) as own:
        token, _ = join(sign_in(facade=own).project(**HOSTED))

        async def status(of: str) -> int:
            with pytest.raises(InvalidStatus) as refused:
                async with connect(f"{signal_url(own)}/rtc?access_token={of}", proxy=None):
                    pytest.fail("it was let in")
            return refused.value.response.status_code

        assert await status("none") == 401
        await asyncio.to_thread(server.stop)
        assert await status(token) == 503


def refusal(report: dict[str, Any]) -> str:
    """Why the client was not let in; empty while it was not refused."""
    return "".join(each["error"] for each in report["events"] if each["name"] == "failed")
