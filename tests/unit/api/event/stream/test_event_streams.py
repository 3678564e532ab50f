"""How many streams a token may have open."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from tests.support.documents import document

from onair_api.auth.identity import GuestControl, Identity
from onair_api.auth.verified_token import Verified
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import COLLECTION, PROJECT
from onair_api.errors import ResourceExhausted
from onair_api.event.event import Format
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.stream.event_delivery import EventDelivery
from onair_api.event.stream.event_streams import EventStreams
from onair_api.event.stream.session import Session
from onair_api.event.stream.subscription_limits import SubscriptionLimits
from onair_api.settings import EventSettings, Settings
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import Role

PROJECT_UID = "uid-show"


class SlowCluster:
    """A view without the project, which each has to fetch from the API server; nobody answers at once."""

    age_s = 0.0

    def __init__(self) -> None:
        self.view = View()
        self._objects = View()
        self._objects.put(COLLECTION, document("sunday", {"owner": {"serviceId": "s", "serviceUserId": "u"}}))
        self._objects.put(PROJECT, document("show", {"collectionId": "sunday"}))
        self.answer = asyncio.Event()

    async def get(self, kind: str, name: str) -> Entry | None:
        await self.answer.wait()
        return self._objects.get(kind, name)


def guest() -> Verified:
    control = GuestControl("sunday", "show", PROJECT_UID)
    return Verified(Identity("s", "g", "Guest", Role.GUEST, (), control), 0.0, 4e9, 0.0, "token")


async def test_streams_that_are_opened_at_once_are_no_more_than_a_token_may_have() -> None:
    cluster, settings = SlowCluster(), Settings(events=EventSettings(sessions_per_token=3))
    replayer = SimpleNamespace(closed_session=lambda *_: None)
    delivery = EventDelivery(ReplayBuffer(60, 100, 10_000), SubscriptionLimits(settings.events))
    streams = EventStreams(cast(Any, cluster), settings, None, delivery, cast(Any, replayer), lambda _: False)
    most = settings.events.sessions_per_token
    sender: Any = SimpleNamespace(format=Format.NDJSON, unsent=list)
    opening = [asyncio.create_task(streams.open(guest(), None, sender)) for _ in range(2 * most)]
    await asyncio.sleep(0)
    cluster.answer.set()
    opened = await asyncio.gather(*opening, return_exceptions=True)
    sessions = [each for each in opened if isinstance(each, Session)]
    refused = [each for each in opened if isinstance(each, ResourceExhausted)]
    assert (len(sessions), len(refused)) == (most, most)
    for session in sessions:
        await streams.close(session)
    assert streams.open_sessions == 0
