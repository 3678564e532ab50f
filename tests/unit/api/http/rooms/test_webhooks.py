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


class EventsThatFailOnce:
    def __init__(self, error: Exception) -> None:
        self._errors = [error]
        self.published = 0

    async def publish(self, *_: object) -> None:
        if self._errors:
            raise self._errors.pop()
        self.published += 1


class AnyProject:
    def project_of(self, _: str) -> str:
        return "show"


@pytest.mark.parametrize("error", [Unavailable("no Redis"), ApiUnavailable(503, "", "no response in time")])
async def test_what_could_not_be_published_is_once_it_is_reported_again(error: Exception) -> None:
    events = EventsThatFailOnce(error)
    parts: list[Any] = [AnyProject(), ClaimedValues(), events]
    webhooks = RoomWebhooks(*parts)
    news = RoomNews(id="1", sub_type="JOIN", room="room", session="s", hidden=False, record={})
    assert await webhooks._is_new(news)
    with pytest.raises(Unavailable):
        await webhooks._publish(news)
    assert await webhooks._is_new(news)
    await webhooks._publish(news)
    assert events.published == 1
    assert not await webhooks._is_new(news)
