"""A scene of a show in the cluster: its layouts and layers over HTTP, its sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.shows import LiveShow

from onair_crds.shapes import JsonObject


class LiveScene:
    def __init__(self, show: LiveShow) -> None:
        self.show = show

    def layout(self, *layers: JsonObject, **fields: Any) -> LiveLayout:
        """Makes a layout with these layers in its root, in order."""
        body = {"projectId": self.show.project, "type": "LAYOUT_TYPE_SCENE"}
        id_ = str(self.call("POST", "", {**body, **fields})["id"])
        (root,) = self.call("GET", f"/{id_}/layers")
        layout = LiveLayout(self, id_, root["id"])
        layout.add(*layers)
        return layout

    def select(self, layout: LiveLayout) -> None:
        """Switches to a layout."""
        mask = {"updateMask": "composition.scene.selectedLayoutId"}
        scene = {"scene": {"selectedLayoutId": layout.id}}
        self.show.facade.call("PATCH", self.show.path, {**mask, "composition": scene})

    def source(self) -> JsonObject:
        """Makes a source of the show, to be pushed by RTMP."""
        body = {"address": {"rtmpPush": {"enabled": True}}}
        made = self.show.facade.call("POST", f"/collection/{self.show.collection}/source", body)
        source: JsonObject = made["source"]
        self.show.facade.call("PUT", f"{self.show.path}/source/{source['sourceId']}", {})
        return source

    def call(self, method: str, path: str, body: JsonObject | None = None) -> Any:
        """A request to the layouts."""
        response = self.show.facade.http.request(method, f"/layout/v2/layouts{path}", json=body)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json()


class LiveLayout:
    def __init__(self, scene: LiveScene, id_: str, root: str) -> None:
        self._scene, self.id, self.root = scene, id_, root

    def add(self, *layers: JsonObject) -> list[str]:
        """Makes layers, in the root where they name no parent; returns their ids."""
        if not layers:
            return []
        items = [{"create": {"parentId": self.root, **layer}} for layer in layers]
        made = self._scene.call("POST", f"/{self.id}/layers/batch", {"layers": items})["layers"]
        return [str(each["create"]["id"]) for each in made]

    def patch(self, layer: str, **fields: Any) -> None:
        self._scene.call("PATCH", f"/{self.id}/layers/{layer}", fields)


SceneOnAir = Callable[[LiveScene, LiveLayout], None]
"""Puts a scene on air with one of its layouts."""
