"""The public server SDK from npm, unmodified, runs a room through the facade."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from livekit import rtc
from tests.support.facade import FacadeThread, Show, User
from tests.support.rooms.hosted_rooms import HOSTED, guest, join, room_of, signal_url
from tests.support.rooms.member import member
from tests.support.rooms.server_sdk import administer
from tests.support.waiting import seconds_until, until

from onair_crds.contract.rooms import SIGNAL_PATH

pytestmark = pytest.mark.media


@pytest.fixture
def show(studio: FacadeThread, sign_in: Callable[..., User]) -> Show:
    return sign_in(facade=studio).project(**HOSTED)


async def test_a_host_lists_mutes_renames_and_removes_with_the_token_of_the_room(
    show: Show, studio: FacadeThread
) -> None:
    host_token, host = join(show)
    eve = guest(show, name="eve")
    eve_token, _ = join(show, eve, displayName="Eve")
    room = room_of(host_token)

    async def run(method: str, *arguments: object, token: str = host_token) -> dict[str, Any]:
        return await administer(studio.url + SIGNAL_PATH, token, room, method, *arguments)

    async with (
        member(signal_url(studio), host_token) as listening,
        member(signal_url(studio), eve_token) as there,
    ):
        published = await there.publish_microphone()

        listed = (await run("listParticipants"))["value"]
        assert sorted(each["identity"] for each in listed) == sorted([host, "eve"])
        assert {each["name"] for each in listed if each["identity"] == "eve"} == {"Eve"}
        one = (await run("getParticipant", "eve"))["value"]
        assert [each["sid"] for each in one["tracks"]] == [published.sid]

        await seconds_until(lambda: listening.loudest.get("eve", 0) > 5000, "Eve is heard")
        muted = (await run("mutePublishedTrack", "eve", published.sid, True))["value"]
        assert (muted["sid"], muted["muted"]) == (published.sid, True)
        heard = listening.room.remote_participants["eve"].track_publications[published.sid]
        await seconds_until(lambda: heard.muted, "the others are told")
        loud_at_s = time.monotonic()

        def note(frame: rtc.AudioFrame) -> None:
            nonlocal loud_at_s
            if max(map(abs, frame.data)) >= 100:
                loud_at_s = time.monotonic()

        # What was on its way may still come
        listening.hearing = note
        await until(lambda: time.monotonic() - loud_at_s >= 1, "a second of silence", 10)

        renamed = (await run("updateParticipant", "eve", '{"displayName":"Ava"}', None, "Ava"))["value"]
        assert renamed["name"] == "Ava"

        assert (await run("removeParticipant", "eve", token=eve_token))["status"] == 403
        assert (await run("removeParticipant", "eve"))["value"] is None
        await there.disconnected()
    with pytest.raises(rtc.ConnectError):
        async with member(signal_url(studio), eve_token):
            pass


async def test_rooms_are_not_run_by_participants_nor_opened_and_closed_by_anybody(
    show: Show, studio: FacadeThread
) -> None:
    token, _ = join(show)
    room = room_of(token)
    url = studio.url + SIGNAL_PATH
    async with member(signal_url(studio), token):
        assert (await administer(url, token, room, "deleteRoom"))["status"] == 403
        assert (await administer(url, token, "another", "listParticipants"))["status"] == 403
        assert (await administer(url, "made.up.token", room, "listParticipants"))["status"] == 401
