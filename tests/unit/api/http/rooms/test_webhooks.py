"""What a room server reports is published, or taken when it is reported again."""

from __future__ import annotations

from typing import Any

import pytest

from onair_api.errors import Unavailable
from onair_api.http.rooms.webhooks import RoomWebhooks
from onair_api.live.room.webhook import RoomNews
from onair_crds.kube.errors import ApiUnavailable


class ClaimedValues:
    def __init__(self) -> None:
        self.claimed: set[str] = set()

    async def put(self, *_: object) -> None: ...

    async def get(self, _: str) -> None: ...

    async def claim(self, key: str, *_: object) -> bool:
        is_new = key not in self.claimed
        self.claimed.add(key)
        return is_new

    async def drop(self, key: str) -> None:
        self.claimed.discard(key)


class RecordedEvents:
    """Counts what is published, once it has failed with each of the errors."""

    def __init__(self, *errors: Exception) -> None:
        self._errors = [*errors]
        self.published = 0

    async def publish(self, *_: object) -> None:
        if self._errors:
            raise self._errors.pop()
        self.published += 1


class ProjectOfRooms:
    """Knows the project of some rooms."""

    def __init__(self, *rooms: str) -> None:
        self._rooms = rooms

    def project_of(self, room: str) -> str | None:
        return "show" if room in self._rooms else None


NEWS = RoomNews(id="1", sub_type="JOIN", room="room", session="s", hidden=False, record={})


@pytest.mark.parametrize("error", [Unavailable("no Redis"), ApiUnavailable(503, "", "no response in time")])
async def test_what_could_not_be_published_is_once_it_is_reported_again(error: Exception) -> None:
    events = RecordedEvents(error)
    parts: list[Any] = [ProjectOfRooms("room"), ClaimedValues(), events]
    webhooks = RoomWebhooks(*parts)
    with pytest.raises(Unavailable):
        await webhooks._report(NEWS)
    for _ in range(2):
        await webhooks._report(NEWS)
    assert events.published == 1


async def test_what_is_of_a_room_of_another_installation_is_left_to_it() -> None:
    values, events = ClaimedValues(), RecordedEvents()
    for rooms in ((), ("room",)):
        parts: list[Any] = [ProjectOfRooms(*rooms), values, events]
        await RoomWebhooks(*parts)._report(NEWS)
        assert events.published == len(rooms)
