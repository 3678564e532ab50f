"""The scene of a show, by the interface of layouts: in a cluster, or with all programs on this machine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tests.support.media.live_view import LiveView
from tests.support.shows import FacadeClient, LiveShow

from onair_crds.shapes import JsonObject


class LiveScene:
    def __init__(self, show: LiveShow) -> None:
        self.show = show

    def layout(self, *transitions: JsonObject, **layers: dict[str, Any]) -> LiveLayout:
        """Makes a layout with these layers, in order, and these transitions to it."""
        body = {
            "projectId": self.show.project,
            "type": "LAYOUT_TYPE_SCENE",
            "transitions": [{"fromLayoutIds": [], **each} for each in transitions],
        }
        response = self.show.facade.http.post("/layout/v2/layouts", json=body)
        assert response.is_success, response.text
        scene = LiveLayout(self.show.facade, response.json())
        if layers:
            scene.add(**layers)
        return scene

    def select(self, scene: LiveLayout) -> None:
        """Switches to a layout."""
        composition = {"scene": {"selectedLayoutId": scene.id}}
        body = {"updateMask": "composition.scene.selectedLayoutId", "composition": composition}
        self.show.facade.call("PATCH", self.show.path, body)

    def source(self) -> tuple[str, str]:
        """Makes a source of the show; returns its id, and where to push to."""
        body: JsonObject = {"address": {"rtmpPush": {}}}
        made = self.show.facade.call("POST", f"/collection/{self.show.collection}/source", body)["source"]
        self.show.facade.call("PUT", f"{self.show.path}/source/{made['sourceId']}", {})
        address = made["address"]["rtmpPush"]
        return made["sourceId"], f"{address['baseUrl']}/{address['key']}"


class LiveLayout:
    """One layout, by the interface of layouts."""

    def __init__(self, client: FacadeClient, record: JsonObject) -> None:
        self._client, self.id = client, str(record["id"])
        self._path = f"/layout/v2/layouts/{self.id}"
        self.root = next(str(each["id"]) for each in self._call("GET", "/layers") if each["type"] == "root")
        self.ids: dict[str, str] = {}
        """Of layers, by the names that the test gives them."""

    def _call(self, method: str, path: str, body: JsonObject | None = None) -> Any:
        response = self._client.http.request(method, f"{self._path}{path}", json=body)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json()

    def add(self, **layers: dict[str, Any]) -> None:
        """Adds layers on top of what there is, in one request."""
        items = [{"create": {"parentId": self.root, **each}} for each in layers.values()]
        made = self._call("POST", "/layers/batch", {"layers": items})["layers"]
        self.ids |= {name: each["create"]["id"] for name, each in zip(layers, made, strict=True)}

    def patch(self, layer: str, **changes: Any) -> None:
        self._call("PATCH", f"/layers/{self.ids[layer]}", changes)

    def batch(self, mode: str = "PARALLEL", /, **changes: dict[str, Any]) -> None:
        """Changes several layers in one request, in this order."""
        items = [{"update": {"id": self.ids[name], **each}} for name, each in changes.items()]
        mode = f"REQUEST_ANIMATION_MODE_{mode}"
        self._call("POST", "/layers/batch", {"layers": items, "requestAnimationMode": mode})

    def update(self, **changes: Any) -> None:
        """Changes the layout itself."""
        self._call("PATCH", "", changes)

    def delete(self) -> None:
        self._call("DELETE", "", {})


PutOnAir = Callable[[LiveLayout, tuple[int, int]], AbstractContextManager[LiveView]]
"""Puts a scene on air with one of its layouts; what viewers get, gray and of a size."""
