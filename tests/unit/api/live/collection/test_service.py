"""A list of thousands of resources, while others want their turn."""

from __future__ import annotations

import asyncio
import base64
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import orjson
import pytest

from onair_api.auth.callers import Caller
from onair_api.auth.identity import Identity
from onair_api.auth.verified_token import Verified
from onair_api.cache.view import View
from onair_api.live.broadcast.run import is_on_air
from onair_api.live.collection.service import Collections
from onair_api.live.project.record import ProjectRecords
from onair_api.live.source.record import SourceRecords
from onair_api.settings import LimitSettings, QuotaSettings
from onair_api.wire.list_page import MAX_PAGE_BYTES
from onair_api.writes.credential_secrets import Credentials
from onair_api.writes.quota_enforcement import Quotas
from onair_crds.contract.ingest import Ingest
from onair_crds.resources.enums import Role
from onair_crds.runtime import steps
from onair_crds.shapes import Document

PROJECTS, DESTINATIONS = 20, 10


def filled_view() -> View:
    view = View()

    def put(kind: str, name: str, **document: Document) -> None:
        version = str(sum(view.size(each) for each in ("Collection", "Project", "Destination")) + 1)
        metadata = {"name": name, "uid": f"{kind}-{name}", "resourceVersion": version}
        view.put(kind, {"metadata": metadata, **document})

    put("Collection", "c", spec={"owner": {"serviceId": "s", "serviceUserId": "u"}})
    put("Credentials", "keys", data={"key": base64.b64encode(b"hush").decode()})
    address = {"rtmpPush": {"url": "rtmp://a.example/b", "keySecretRef": {"name": "keys", "key": "key"}}}
    for p in range(PROJECTS):
        put("Project", f"p{p}", spec={"collectionId": "c", "composition": {"external": {"url": "http://a/"}}})
        for d in range(DESTINATIONS):
            put("Destination", f"p{p}-{d}", spec={"projectId": f"p{p}", "enabled": True, "address": address})
    return view


def collections_of(view: View) -> Collections:
    """The service over what its view is filled with afterwards."""
    cluster: Any = SimpleNamespace(view=view)
    codes: Any = SimpleNamespace(of_project=AsyncMock(return_value=[]))
    nothing: Any = None
    sources = SourceRecords(nothing, lambda: Ingest("rtmp://i.example/live", "srt://i.example"))
    records = ProjectRecords(cluster.view, Credentials(cluster), codes, sources)
    quotas = Quotas(cluster.view, QuotaSettings(), is_on_air)
    return Collections(cluster, nothing, records, nothing, nothing, LimitSettings(), quotas)


CALLER = Caller(Verified(Identity("s", "u", "u", Role.HOST, ()), 0, 1, 0, "token"))


async def test_a_long_list_gives_way_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    collections = collections_of(filled_view())
    monkeypatch.setattr(steps, "STEP_S", 0.0)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    waiting = asyncio.create_task(others())
    listed = await collections.list_collections(CALLER, {}, {})
    waiting.cancel()
    assert turns > PROJECTS * DESTINATIONS
    (collection,) = listed["collections"]
    assert sum(len(project["destinations"]) for project in collection["projects"]) == PROJECTS * DESTINATIONS
    assert collection["projects"][0]["destinations"][0]["address"]["rtmpPush"]["key"] == "hush"


async def test_a_response_is_bounded_where_each_project_repeats_large_sources() -> None:
    """100 sources of 250 kB in as many projects as one likes: a hundred times what quotas count."""
    view = View()
    collections = collections_of(view)
    source = {"metadata": "x" * 250_000, "address": {"rtmpPull": {"url": "rtmp://a.example/live"}}}

    def put(kind: str, name: str, spec: Document) -> None:
        version = str(sum(view.size(each) for each in ("Collection", "Project", "Source")) + 1)
        metadata = {"name": name, "uid": f"{kind}-{name}", "resourceVersion": version}
        view.put(kind, {"metadata": metadata, "spec": spec})

    for c in range(4):
        put("Collection", f"c{c}", {"owner": {"serviceId": "s", "serviceUserId": "u"}})
        for s in range(10):
            put("Source", f"s{c}-{s}", {"collectionId": f"c{c}", **source})
        used = [{"sourceId": f"s{c}-{s}"} for s in range(10)]
        for p in range(2 if c else 1):
            put("Project", f"p{c}-{p}", {"collectionId": f"c{c}", "sources": used})
    found: list[str] = []
    token = None
    for _ in range(4):
        page = await collections.list_collections(CALLER, {}, {"pageToken": token})
        assert len(orjson.dumps(page)) < 1.05 * MAX_PAGE_BYTES
        found += [each["collectionId"] for each in page["collections"]]
        token = page.get("nextPageToken")
        if token is None:
            break
    assert found == ["c0", "c1", "c2", "c3"]
