"""Requests about sources over HTTP, and what is stored of them."""

from __future__ import annotations

from typing import Any

from tests.support.facade import Show, StoredResources, User
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject


def create(user: User, collection: str, **body: Any) -> JsonObject:
    body.setdefault("address", {"rtmpPush": {"enabled": True}})
    return user.ok("POST", f"/collection/{collection}/source", body)["source"]  # type: ignore[no-any-return]


def path_of(source: JsonObject) -> str:
    return f"/collection/{source['collectionId']}/source/{source['sourceId']}"


def key_secrets(resources: StoredResources, source: JsonObject) -> list[JsonObject]:
    label = "onair.dev/source"
    return [
        s for s in resources.secrets() if (s["metadata"].get("labels") or {}).get(label) == source["sourceId"]
    ]


def on_air(resources: StoredResources, show: Show) -> None:
    run = show.start()
    resources.set_broadcast(show.id, {"id": run, "epoch": 1, "phase": "Running"})
    wait_for(lambda: show.status()["phase"].endswith("_RUNNING"), "the show runs")
