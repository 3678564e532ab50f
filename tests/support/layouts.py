"""A client of the layout interface."""

from __future__ import annotations

from typing import Any

import httpx
from tests.support.facade import FacadeThread, Show, User

from onair_crds.shapes import JsonObject

ROOT = "/layout/v2/layouts"


class LayoutClient:
    """One layout: its id and what tests do with it."""

    def __init__(self, user: User, record: JsonObject) -> None:
        self.user, self.record = user, record
        self.id: str = record["id"]
        self.path = f"{ROOT}/{self.id}"

    def through(self, facade: FacadeThread) -> LayoutClient:
        """The same layout, by way of another replica."""
        return LayoutClient(User(facade, self.user.token), self.record)

    def call(self, method: str, path: str = "", body: Any = None, **options: Any) -> httpx.Response:
        return self.user.call(method, self.path + path, body, **options)

    def get(self) -> JsonObject:
        return self.user.ok("GET", self.path)

    def layers(self) -> list[JsonObject]:
        layers: Any = self.user.ok("GET", f"{self.path}/layers")
        assert isinstance(layers, list)
        return layers

    def layer(self, layer_id: str) -> JsonObject:
        return self.user.ok("GET", f"{self.path}/layers/{layer_id}")

    def children(self, layer_id: str) -> list[str]:
        return list(self.layer(layer_id)["children"])

    def root(self) -> str:
        return str(next(each["id"] for each in self.layers() if each["type"] == "root"))

    def add(self, type_: str = "square", **body: Any) -> JsonObject:
        return self.user.ok("POST", f"{self.path}/layers", {"type": type_, **body})

    def patch(self, layer_id: str, **body: Any) -> JsonObject:
        return self.user.ok("PATCH", f"{self.path}/layers/{layer_id}", body)

    def delete(self, layer_id: str, body: Any = None) -> JsonObject:
        return self.user.ok("DELETE", f"{self.path}/layers/{layer_id}", body)

    def batch(self, *items: JsonObject, **body: Any) -> JsonObject:
        return self.user.ok("POST", f"{self.path}/layers/batch", {"layers": list(items), **body})


def layout(show: Show, **body: Any) -> LayoutClient:
    return LayoutClient(show.user, show.user.ok("POST", ROOT, {"projectId": show.id, **body}))


def scene(show: Show, **body: Any) -> LayoutClient:
    return layout(show, type="LAYOUT_TYPE_SCENE", **body)


PLAIN: JsonObject = {
    "type": "text",
    "data": {},
    "x": None,
    "y": None,
    "width": None,
    "height": None,
    "rotation": 0,
    "opacity": 1,
    "scale": 1,
    "hidden": False,
    "children": [],
    "metadata": {},
    "requestAnimation": [],
}
"""A layer of which nothing but its type was given."""
