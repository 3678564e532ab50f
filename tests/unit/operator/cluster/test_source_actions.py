"""Keys of sources are made once, and nobody is cut off whose source is only news to this operator."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.documents import credentials_document, document
from tests.support.sources import KEY, KEY_STREAM, source
from tests.support.waiting import WITHIN_S, until

from onair_crds.kube.errors import ApiError, ApiUnavailable
from onair_crds.kube.store import Store
from onair_crds.shapes import Document
from onair_operator.cluster.actions import CreateStreamKey, CutOff
from onair_operator.cluster.source_actions import SourceActions
from onair_operator.cluster.watched_kinds import KINDS, SECRET
from onair_operator.cluster.world import World

SECRET_OF_CAMERA = {
    **credentials_document("source-camera", "camera", "source"),
    "data": {"streamKey": base64.b64encode(KEY.encode()).decode()},
}
CAMERA = document("camera", {"collectionId": "sunday", "address": {"rtmpPush": {}}})


class SourceApiServer:
    """Has these Secrets and sources."""

    def __init__(self, *documents: Document) -> None:
        self.documents = {each["metadata"]["name"]: each for each in documents}
        self.created: list[Document] = []
        self.listed = 0
        self.listing = asyncio.Event()
        self.available = True
        self.hangs: asyncio.Event | None = None

    async def pages(self, api: object, namespace: str, **query: str) -> AsyncIterator[Document]:
        assert query == {"fieldSelector": "type=onair.dev/credentials"}
        if not self.available:
            raise ApiUnavailable(503, "Unavailable", "away")
        if self.hangs:
            await self.hangs.wait()
        self.listed += 1
        self.listing.set()
        await asyncio.sleep(0)
        yield {"items": [each for each in self.documents.values() if "data" in each]}

    async def get(self, api: object, namespace: str, name: str) -> Document:
        if name not in self.documents:
            raise ApiError(404, "NotFound", "there is none")
        return self.documents[name]

    async def create(self, api: object, namespace: str, document: Document) -> Document:
        name = document["metadata"]["name"]
        if name in self.documents:
            raise ApiError(409, "AlreadyExists", "there is one")
        self.created.append(document)
        metadata = {**document["metadata"], "uid": "uid-new", "resourceVersion": "1000"}
        return {**document, "metadata": metadata}


class SourceActionsSetting:
    def __init__(self, server: SourceApiServer) -> None:
        self.cut_off: list[tuple[str, str]] = []
        self.store = Store(KINDS)
        gateways = SimpleNamespace(cut_off=lambda *each: self.cut_off.append(each))
        world = World(self.store, cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, gateways))
        self.world = world
        self.actions = SourceActions(cast(Any, server), world, "shows", self._take)

    async def carry_out(self, *actions: CutOff) -> None:
        """Carries actions out, and waits until nothing of them is under way."""
        for each in actions:
            await self.actions.carry_out(each)
        names = [f"{each.gateway}/{each.stream}" for each in actions]
        await until(lambda: not any(name in self.world.cut_offs for name in names))

    def _take(self, kind: str, document: Document) -> str:
        self.store.update(kind, document)
        return str(document["metadata"]["resourceVersion"])


HERE = ("ingest-0", KEY_STREAM)


@pytest.mark.parametrize(
    ("known_to_the_server", "cut_off"),
    [([SECRET_OF_CAMERA, CAMERA], []), ([SECRET_OF_CAMERA], [HERE]), ([CAMERA], [HERE]), ([], [HERE])],
    ids=["both", "the source is gone", "the key is gone", "nothing"],
)
async def test_an_unknown_publisher_is_cut_off_by_the_api_servers_own_word(
    known_to_the_server: list[Document], cut_off: list[tuple[str, str]]
) -> None:
    operator = SourceActionsSetting(SourceApiServer(*known_to_the_server))
    await operator.carry_out(CutOff(*HERE, unknown=True))
    assert operator.cut_off == cut_off


async def test_nobody_unknown_is_cut_off_while_the_api_server_cannot_be_asked() -> None:
    server = SourceApiServer()
    server.available = False
    operator = SourceActionsSetting(server)
    await operator.carry_out(CutOff(*HERE, unknown=True))
    assert operator.cut_off == []
    await operator.carry_out(CutOff(*HERE))
    assert operator.cut_off == [HERE], "one that its source does not take is known"


async def test_a_key_is_made_that_goes_with_its_source() -> None:
    server = SourceApiServer(CAMERA)
    operator = SourceActionsSetting(server)
    await operator.actions.carry_out(CreateStreamKey(source()))
    (made,) = server.created
    assert (made["type"], made["immutable"]) == ("onair.dev/credentials", True)
    assert made["metadata"]["labels"]["onair.dev/source"] == "camera"
    assert [each["uid"] for each in made["metadata"]["ownerReferences"]] == ["uid-camera"]
    assert len(base64.b64decode(made["data"]["streamKey"])) == 40
    assert operator.store.entry(SECRET, "source-camera")


async def test_a_key_that_somebody_made_meanwhile_stays() -> None:
    server = SourceApiServer(SECRET_OF_CAMERA, CAMERA)
    operator = SourceActionsSetting(server)
    await operator.actions.carry_out(CreateStreamKey(source()))
    assert server.created == []
    assert operator.store.entry(SECRET, "source-camera")


async def test_many_that_are_cut_off_at_a_time_cost_two_listings() -> None:
    server = SourceApiServer(SECRET_OF_CAMERA, CAMERA)
    operator = SourceActionsSetting(server)
    strangers = [CutOff("ingest-0", f"stranger-{number}", unknown=True) for number in range(50)]
    await operator.actions.carry_out(strangers[0])
    await server.listing.wait()
    await operator.carry_out(*strangers)
    assert len(operator.cut_off) == 50
    assert server.listed == 2, "those who ask while one is under way need one that begins later"


async def test_a_listing_that_fails_is_tried_again_by_whoever_asks_next() -> None:
    server = SourceApiServer()
    operator = SourceActionsSetting(server)
    server.available = False
    for _ in range(2):
        await operator.carry_out(CutOff(*HERE, unknown=True))
    assert operator.cut_off == []
    server.available = True
    await operator.carry_out(CutOff(*HERE, unknown=True))
    assert operator.cut_off == [HERE]


async def test_a_listing_that_hangs_holds_up_nobody_who_has_somebody_cut_off() -> None:
    server = SourceApiServer()
    server.hangs = asyncio.Event()
    operator = SourceActionsSetting(server)
    async with asyncio.timeout(WITHIN_S):
        for _ in range(2):
            await operator.actions.carry_out(CutOff(*HERE, unknown=True))
    assert operator.cut_off == []
    server.hangs.set()
    await operator.carry_out(CutOff(*HERE, unknown=True))
    assert (operator.cut_off, server.listed) == ([HERE], 1)
