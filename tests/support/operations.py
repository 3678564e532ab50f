"""Every operation as a request, and a project with one of everything to send them to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.support.facade import User
from tests.support.tokens import invitation

from onair_api.auth.roles import Operation

O = Operation  # noqa: E741

LATER = 400
"""FAILED_PRECONDITION: allowed, and not possible here."""


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    """`{c}` collection, `{p}` project, `{d}` destination, `{s}` source, `{l}` layout, `{k}` layer."""
    body: Any = None
    status: int = 200
    """For who may."""


COLLECTION = "/live/v2/collection/{c}"
PROJECT = f"{COLLECTION}/project/{{p}}"
TOKENS = "/live/v2/authentication/token"
LAYOUT = "/layout/v2/layouts/{l}"
ADDRESS = {"address": {"rtmpPush": {"url": "rtmp://a.example/live"}}}

CALLS = {
    O.GET_COLLECTIONS: Call("GET", "/live/v2/collection"),
    O.CREATE_COLLECTION: Call("POST", "/live/v2/collection", {}),
    O.GET_COLLECTION: Call("GET", COLLECTION),
    O.UPDATE_COLLECTION: Call("PATCH", COLLECTION, {"metadata": 1}),
    O.CREATE_PROJECT: Call("POST", f"{COLLECTION}/project", {}),
    O.GET_PROJECT: Call("GET", PROJECT),
    O.UPDATE_PROJECT: Call("PATCH", PROJECT, {"metadata": 1}),
    O.GET_PROJECT_BROADCAST_STATUS: Call("GET", f"{PROJECT}/broadcast/status"),
    O.GET_PROJECT_BROADCAST_SNAPSHOT: Call("GET", f"{PROJECT}/broadcast/snapshot", status=LATER),
    O.START_PROJECT_WEBRTC: Call("PUT", f"{PROJECT}/webrtc/start", status=LATER),
    O.STOP_PROJECT_WEBRTC: Call("PUT", f"{PROJECT}/webrtc/stop", status=LATER),
    O.CREATE_WEBRTC_ACCESS_TOKEN: Call("POST", f"{PROJECT}/webrtc/token", {"displayName": "B"}, LATER),
    O.CREATE_DESTINATION: Call("POST", f"{PROJECT}/destination", ADDRESS),
    O.GET_DESTINATION: Call("GET", f"{PROJECT}/destination/{{d}}"),
    O.UPDATE_DESTINATION: Call("PATCH", f"{PROJECT}/destination/{{d}}", {"metadata": 1}),
    O.GET_SOURCES: Call("GET", f"{COLLECTION}/source"),
    O.CREATE_SOURCE: Call("POST", f"{COLLECTION}/source", {"address": {"rtmpPush": {}}}),
    O.GET_SOURCE: Call("GET", f"{COLLECTION}/source/{{s}}"),
    O.UPDATE_SOURCE: Call("PATCH", f"{COLLECTION}/source/{{s}}", {"metadata": 1}),
    O.ADD_SOURCE_TO_PROJECT: Call("PUT", f"{PROJECT}/source/{{s}}", {}),
    O.UPDATE_SOURCE_IN_PROJECT: Call("PATCH", f"{PROJECT}/source/{{s}}", {"trigger": {}}),
    O.REMOVE_SOURCE_FROM_PROJECT: Call("DELETE", f"{PROJECT}/source/{{s}}"),
    O.REFRESH_ACCESS_TOKEN: Call("PUT", TOKENS, {}),
    O.CREATE_GUEST_ACCESS_TOKEN: Call(
        "POST", f"{TOKENS}/guest", {"collectionId": "{c}", "projectId": "{p}", "role": "V", "direct": {}}
    ),
    O.CREATE_GUEST_CODE: Call(
        "POST", f"{TOKENS}/guest-code", {"collectionId": "{c}", "projectId": "{p}", "url": "http://a.b"}
    ),
    O.GET_GUEST_CODE: Call("GET", f"{TOKENS}/guest-code/{{code}}"),
    O.DELETE_GUEST_CODE: Call("DELETE", f"{TOKENS}/guest-code/{{code}}"),
    O.LIST_LAYOUTS: Call("GET", "/layout/v2/layouts?projectId={p}&collectionId={c}"),
    O.CREATE_LAYOUT: Call("POST", "/layout/v2/layouts", {"collectionId": "{c}", "projectId": "{p}"}),
    O.GET_LAYOUT: Call("GET", LAYOUT),
    O.UPDATE_LAYOUT: Call("PATCH", LAYOUT, {"metadata": {}}),
    O.LIST_LAYERS: Call("GET", f"{LAYOUT}/layers"),
    O.CREATE_LAYER: Call("POST", f"{LAYOUT}/layers", {"type": "image"}),
    O.BATCH: Call("POST", f"{LAYOUT}/layers/batch", {"layers": []}),
    O.GET_LAYER: Call("GET", f"{LAYOUT}/layers/{{k}}"),
    O.UPDATE_LAYER: Call("PATCH", f"{LAYOUT}/layers/{{k}}", {"x": 1}),
    O.DELETE_LAYER: Call("DELETE", f"{LAYOUT}/layers/{{k}}", {}),
    O.DELETE_LAYOUT: Call("DELETE", LAYOUT, {}),
    O.PUBLISH_EVENT: Call("POST", "/event/v2/publish", {"name": "a", "payload": {}}, status=0),
    O.DELETE_DESTINATION: Call("DELETE", f"{PROJECT}/destination/{{d}}?force=true"),
    O.START_PROJECT_BROADCAST: Call("POST", f"{PROJECT}/broadcast/start"),
    O.STOP_PROJECT_BROADCAST: Call("POST", f"{PROJECT}/broadcast/stop"),
    O.DELETE_SOURCE: Call("DELETE", f"{COLLECTION}/source/{{s}}?force=true"),
    O.DELETE_PROJECT: Call("DELETE", f"{PROJECT}?force=true"),
    O.DELETE_COLLECTION: Call("DELETE", f"{COLLECTION}?force=true"),
}
"""In an order in which all can succeed. A status of 0 is any that is neither 401 nor 403."""

STREAMED = {O.STREAM_EVENTS}
"""Tells a refusal on the stream, not by a status: tests of the stream have it."""


class World:
    """A project with one of everything, and an id for each."""

    def __init__(self, host: User, served: set[str]) -> None:
        self.host, self.show = host, host.project()
        collection = f"/collection/{self.show.collection}"
        source = host.ok("POST", f"{collection}/source", {"address": {"srtPush": {}}})["source"]["sourceId"]
        self.ids = {
            "c": self.show.collection,
            "p": self.show.id,
            "d": self.show.destination()["destinationId"],
            "s": source,
            "code": host.ok(
                "POST",
                "/authentication/token/guest-code",
                {**invitation(self.show), "url": "https://a.example"},
            )["guestCode"]["code"],
            "l": "layout",
            "k": "layer",
        }
        host.ok("PUT", f"{self.show.path}/source/{source}")
        if O.CREATE_LAYER in served:
            self._add_layout()

    def _add_layout(self) -> None:
        def post(path: str, body: Any) -> str:
            http, headers = self.host.facade.http, self.host.headers
            answer = http.post(f"/layout/v2/layouts{path}", headers=headers, content=json.dumps(body))
            assert answer.status_code == 200, answer.text
            return str(answer.json()["id"])

        self.ids["l"] = post("", {"collectionId": self.show.collection, "projectId": self.show.id})
        self.ids["k"] = post(f"/{self.ids['l']}/layers", {"type": "image"})

    def call(self, user: User, call: Call) -> Any:
        body = json.dumps(call.body).replace('"V"', '"ROLE_VIEWER"') if call.body is not None else None
        for name, value in self.ids.items():
            body = body and body.replace(f'"{{{name}}}"', f'"{value}"')
        return user.facade.http.request(call.method, self.path(call), content=body, headers=user.headers)

    def path(self, call: Call) -> str:
        path = call.path
        for name, value in self.ids.items():
            path = path.replace(f"{{{name}}}", value)
        return path
