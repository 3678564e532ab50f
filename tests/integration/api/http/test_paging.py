"""Lists page by page, through both doors."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.support.facade import User
from tests.support.fixtures import doors
from tests.support.layouts import layout
from tests.support.tokens import fields_of

from onair_crds.shapes import JsonObject

door, pytest_generate_tests = doors.door, doors.pytest_generate_tests

HEADER = "X-Next-Page-Token"


def listed(response: httpx.Response, name: str | None) -> tuple[list[JsonObject], str | None]:
    """The items of a page, and the token of the next; `name` is that of the list, None for a bare array."""
    assert response.status_code == 200, response.text
    body: Any = response.json()
    return (body, response.headers.get(HEADER)) if name is None else (body[name], body.get("nextPageToken"))


@pytest.fixture
def lists(anna: User) -> list[tuple[str, str | None, str]]:
    """Path, name and id field of each list; all have five items."""
    show = anna.project()
    address: JsonObject = {"address": {"rtmpPull": {"url": "rtmp://a.example/live"}}}
    for _ in range(4):
        anna.collection()
    for _ in range(5):
        anna.ok("POST", f"/collection/{show.collection}/source", address)
    made = [layout(show).id for _ in range(5)]
    layers = f"/layout/v2/layouts/{made[0]}/layers"
    for _ in range(5):
        anna.ok("POST", layers, {"type": "text"})
    return [
        ("/collection", "collections", "collectionId"),
        (f"/collection/{show.collection}/source", "sources", "sourceId"),
        (f"/layout/v2/layouts?projectId={show.id}", None, "id"),
        (layers, None, "id"),
    ]


def test_every_list_has_pages(anna: User, lists: list[tuple[str, str | None, str]]) -> None:
    for path, name, id_field in lists:
        whole, token = listed(anna.call("GET", path), name)
        assert token is None, "without a page all is listed"
        assert len(whole) >= 5
        found: list[str] = []
        for _ in range(len(whole)):
            query = {"pageSize": "2", **({"pageToken": token} if token else {})}
            joined = path + ("&" if "?" in path else "?") + str(httpx.QueryParams(query))
            items, token = listed(anna.call("GET", joined), name)
            assert 1 <= len(items) <= 2
            found += [item[id_field] for item in items]
            if token is None:
                break
        assert found == [item[id_field] for item in whole]


def test_a_page_of_large_items_ends_early_though_no_page_was_asked_for(
    anna: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onair_api.wire.list_page.MAX_PAGE_BYTES", 50_000)
    metadata = {"a": "x" * 20_000}
    address: JsonObject = {"rtmpPull": {"url": "rtmp://a.example/live"}}
    collections = [anna.collection(metadata=metadata) for _ in range(3)]
    path = f"/collection/{collections[0]}"
    source = anna.ok("POST", f"{path}/source", {"address": address, "metadata": metadata})["source"][
        "sourceId"
    ]
    for _ in range(4):
        anna.ok("POST", f"{path}/source", {"address": address, "metadata": metadata})
    show = anna.project(collections[0])
    anna.ok("PUT", f"{show.path}/source/{source}", {})

    def pages(path: str, name: str, id_field: str) -> list[list[str]]:
        found: list[list[str]] = []
        token = None
        for _ in range(10):
            items, token = listed(anna.call("GET", path + (f"?pageToken={token}" if token else "")), name)
            found.append([item[id_field] for item in items])
            if token is None:
                break
        return found

    first, *others = collections
    assert pages("/collection", "collections", "collectionId") == [[first], others]
    assert [len(page) for page in pages(f"{path}/source", "sources", "sourceId")] == [2, 2, 1]


@pytest.mark.parametrize(("query", "field"), [("pageSize=1001", "pageSize"), ("pageToken=x", "pageToken")])
def test_a_wrong_page_is_refused(
    anna: User, lists: list[tuple[str, str | None, str]], query: str, field: str
) -> None:
    for path, _, _ in lists:
        response = anna.call("GET", path + ("&" if "?" in path else "?") + query)
        assert fields_of(response) == {field}


def test_browsers_may_read_the_token(anna: User) -> None:
    response = anna.call("GET", "/collection", headers={"Origin": "https://a.example"})
    exposed = response.headers["Access-Control-Expose-Headers"]
    assert {HEADER, "Warning"} <= {name.strip() for name in exposed.split(",")}
