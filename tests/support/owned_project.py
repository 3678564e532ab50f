"""A project, its collection and a source in memory, and their owner."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from onair_api.auth.callers import Caller
from onair_api.auth.identity import Identity
from onair_api.auth.verified_token import Verified
from onair_api.cache.view import View
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import Role
from onair_crds.shapes import JsonObject

IDS = {"collectionId": "c", "projectId": "p", "sourceId": "s"}
HOST = Caller(Verified(Identity("s", "u", "u", Role.HOST, ()), 0, 1, 0, "token"))


def cluster_with(project: JsonObject) -> tuple[Any, Entry]:
    """A cluster that has a project with this spec, and the project."""
    view = View()
    specs: list[tuple[str, str, JsonObject]] = [
        ("Collection", "c", {"owner": {"serviceId": "s", "serviceUserId": "u"}}),
        ("Project", "p", {"collectionId": "c", **project}),
        ("Source", "s", {"collectionId": "c", "address": {"rtmpPush": {}}}),
    ]
    for version, (kind, name, spec) in enumerate(specs, 1):
        metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}
        view.put(kind, {"metadata": metadata, "spec": spec})

    async def get(kind: str, name: str) -> Entry | None:
        return view.get(kind, name)

    entry = view.get("Project", "p")
    assert entry
    return SimpleNamespace(view=view, get=get), entry
