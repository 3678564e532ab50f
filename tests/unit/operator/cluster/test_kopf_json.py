"""kopf's lists: how many objects each page asks for."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from onair_operator.cluster import kopf_json
from onair_operator.cluster.watch import LIST_CHUNK

PATH = "/apis/onair.dev/v1/namespaces/shows/layouts"


class ListOfOneSize:
    """A list whose objects are of one size, as kopf's client gets it."""

    def __init__(self, object_bytes: int) -> None:
        self.asked: list[dict[str, str]] = []
        self._object_bytes = object_bytes

    async def request(self, method: str, url: str, **_: Any) -> PageOfOneSize:
        query = dict(parse_qsl(urlsplit(url).query))
        self.asked.append(query)
        return PageOfOneSize(int(query.get("limit", 0)) * ["x" * self._object_bytes])


class PageOfOneSize:
    """One response."""

    def __init__(self, items: list[str]) -> None:
        self._items = items

    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None: ...

    async def read(self) -> bytes:
        return json.dumps({"items": self._items}).encode()


@pytest.mark.parametrize(
    ("object_bytes", "limits"),
    [(100, [10, 20, 40, 80, 100, 100]), (200_000, [10, 2, 2]), (900_000, [10, 1, 1])],
)
async def test_pages_of_large_objects_are_short(
    object_bytes: int, limits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = ListOfOneSize(object_bytes)
    monkeypatch.setattr("kopf._cogs.clients.api.request", there.request)
    lists = kopf_json._Lists()
    for _ in range(2):
        for page in range(len(limits)):
            following = "" if page == 0 else "&continue=a%2Bb%3D"
            await lists.get(f"{PATH}?limit={LIST_CHUNK}&fieldSelector=type%21%3Da{following}")
    assert [int(query["limit"]) for query in there.asked] == limits * 2
    assert {query["fieldSelector"] for query in there.asked} == {"type!=a"}
    assert {query.get("continue", "a+b=") for query in there.asked} == {"a+b="}


async def test_what_is_no_list_in_pages_is_asked_for_as_kopf_does(monkeypatch: pytest.MonkeyPatch) -> None:
    there = ListOfOneSize(1)
    monkeypatch.setattr("kopf._cogs.clients.api.request", there.request)
    assert await kopf_json._Lists().get("/api/v1") == {"items": []}
    assert there.asked == [{}]
