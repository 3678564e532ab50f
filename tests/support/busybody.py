"""Somebody who is always first to write, and what is stored meanwhile."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from tests.support.facade import FacadeThread, StoredResources
from tests.support.operations import OperationCall, OperationWorld

from onair_api.writes import writer
from onair_crds.shapes import JsonObject


class Busybody:
    """Somebody who writes every object a moment before the facade does."""

    def __init__(
        self, own: FacadeThread, resources: StoredResources, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client = own.services.cluster.client
        write = client.json_patch
        self.writes = 0
        self.on = False
        self.tires_after: float = math.inf
        """Writes."""

        async def later(api: Any, namespace: str, name: str, *rest: Any, **more: Any) -> Any:
            if self.on and self.writes < self.tires_after:
                self.writes += 1
                note = {"metadata": {"annotations": {"busybody": str(self.writes)}}}
                resources.patch(api.plural, name, note)
            return await write(api, namespace, name, *rest, **more)

        monkeypatch.setattr(client, "json_patch", later)
        monkeypatch.setattr(writer, "LONGEST_PAUSE_S", 0.001)

    def wins(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Has others give up soon, and never tires."""
        monkeypatch.setattr(writer, "CONFLICT_TIMEOUT_S", 0.1)


def changing(operation: str, call: OperationCall) -> OperationCall:
    """A call that has something to write."""
    bodies: dict[str, JsonObject] = {
        "UpdateCollection": {"metadata": "new"},
        "UpdateProject": {"metadata": "new"},
        "UpdateDestination": {"metadata": "new"},
        "UpdateSource": {"metadata": "new"},
        "AddSourceToProject": {"trigger": {"start": "SOURCE_TRIGGER_ACTION_OR"}},
        "UpdateSourceInProject": {"trigger": {"start": "SOURCE_TRIGGER_ACTION_OR"}},
        "UpdateLayout": {"metadata": {"new": 1}},
        "UpdateLayer": {"x": 17},
        "Batch": {"layers": [{"create": {"type": "image"}}]},
    }
    return replace(call, body=bodies.get(operation, call.body))


def everything(resources: StoredResources, world: OperationWorld) -> dict[str, Any]:
    """What is stored of a world, without what passers-by left there."""
    names = set(world.ids.values())
    kinds = ("collections", "projects", "sources", "destinations", "layouts")
    return {
        f"{kind}/{item['metadata']['name']}": (item["spec"], item["metadata"].get("deletionTimestamp"))
        for kind in kinds
        for item in resources.list(kind)
        if item["metadata"]["name"] in names
    }
