"""Every operation as a request, and a project with one of everything to send them to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.support.facade import User
from tests.support.tokens import invitation

from onair_api.auth.callers import ByAccessToken
from onair_api.operations import OPERATIONS

TOKEN_OPERATIONS = {each.name for each in OPERATIONS if isinstance(each.access, ByAccessToken)}
"""Names of the operations that take an access token, by the program's own table."""

LATER = 400
"""FAILED_PRECONDITION: allowed, and not possible here."""


@dataclass(frozen=True)
class OperationCall:
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
    "GetCollections": OperationCall("GET", "/live/v2/collection"),
    "CreateCollection": OperationCall("POST", "/live/v2/collection", {}),
    "GetCollection": OperationCall("GET", COLLECTION),
    "UpdateCollection": OperationCall("PATCH", COLLECTION, {"metadata": 1}),
    "CreateProject": OperationCall("POST", f"{COLLECTION}/project", {}),
    "GetProject": OperationCall("GET", PROJECT),
    "UpdateProject": OperationCall("PATCH", PROJECT, {"metadata": 1}),
    "GetProjectBroadcastStatus": OperationCall("GET", f"{PROJECT}/broadcast/status"),
    "GetProjectBroadcastSnapshot": OperationCall("GET", f"{PROJECT}/broadcast/snapshot", status=LATER),
    "StartProjectWebRtc": OperationCall("PUT", f"{PROJECT}/webrtc/start", status=LATER),
    "StopProjectWebRtc": OperationCall("PUT", f"{PROJECT}/webrtc/stop", status=LATER),
    "CreateWebRtcAccessToken": OperationCall("POST", f"{PROJECT}/webrtc/token", {"displayName": "B"}, LATER),
    "CreateDestination": OperationCall("POST", f"{PROJECT}/destination", ADDRESS),
    "GetDestination": OperationCall("GET", f"{PROJECT}/destination/{{d}}"),
    "UpdateDestination": OperationCall("PATCH", f"{PROJECT}/destination/{{d}}", {"metadata": 1}),
    "GetSources": OperationCall("GET", f"{COLLECTION}/source"),
    "CreateSource": OperationCall("POST", f"{COLLECTION}/source", {"address": {"rtmpPush": {}}}),
    "GetSource": OperationCall("GET", f"{COLLECTION}/source/{{s}}"),
    "GetSourceHlsPreview": OperationCall("GET", f"{COLLECTION}/source/{{s}}/preview/hls"),
    "UpdateSource": OperationCall("PATCH", f"{COLLECTION}/source/{{s}}", {"metadata": 1}),
    "AddSourceToProject": OperationCall("PUT", f"{PROJECT}/source/{{s}}", {}),
    "UpdateSourceInProject": OperationCall("PATCH", f"{PROJECT}/source/{{s}}", {"trigger": {}}),
    "RemoveSourceFromProject": OperationCall("DELETE", f"{PROJECT}/source/{{s}}"),
    "RefreshAccessToken": OperationCall("PUT", TOKENS, {}),
    "CreateGuestAccessToken": OperationCall(
        "POST",
        f"{TOKENS}/guest",
        {"collectionId": "{c}", "projectId": "{p}", "role": "V", "token": {"direct": {}}},
    ),
    "CreateGuestCode": OperationCall(
        "POST", f"{TOKENS}/guest-code", {"collectionId": "{c}", "projectId": "{p}", "url": "https://a.b"}
    ),
    "GetGuestCodes": OperationCall("GET", f"{TOKENS}/guest-code?projectId={{p}}"),
    "GetGuestCode": OperationCall("GET", f"{TOKENS}/guest-code/{{code}}"),
    "DeleteGuestCode": OperationCall("DELETE", f"{TOKENS}/guest-code/{{code}}"),
    "ListLayouts": OperationCall("GET", "/layout/v2/layouts?projectId={p}&collectionId={c}"),
    "CreateLayout": OperationCall("POST", "/layout/v2/layouts", {"collectionId": "{c}", "projectId": "{p}"}),
    "GetLayout": OperationCall("GET", LAYOUT),
    "UpdateLayout": OperationCall("PATCH", LAYOUT, {"metadata": {}}),
    "ListLayers": OperationCall("GET", f"{LAYOUT}/layers"),
    "CreateLayer": OperationCall("POST", f"{LAYOUT}/layers", {"type": "image"}),
    "Batch": OperationCall("POST", f"{LAYOUT}/layers/batch", {"layers": [{"create": {"type": "image"}}]}),
    "GetLayer": OperationCall("GET", f"{LAYOUT}/layers/{{k}}"),
    "UpdateLayer": OperationCall("PATCH", f"{LAYOUT}/layers/{{k}}", {"x": 1}),
    "DeleteLayer": OperationCall("DELETE", f"{LAYOUT}/layers/{{k}}", {}),
    "DeleteLayout": OperationCall("DELETE", LAYOUT, {}),
    "PublishEvent": OperationCall("POST", "/event/v2/publish", {"name": "a", "payload": {}}, status=0),
    "DeleteDestination": OperationCall("DELETE", f"{PROJECT}/destination/{{d}}?force=true"),
    "StartProjectBroadcast": OperationCall("POST", f"{PROJECT}/broadcast/start"),
    "StopProjectBroadcast": OperationCall("POST", f"{PROJECT}/broadcast/stop"),
    "DeleteSource": OperationCall("DELETE", f"{COLLECTION}/source/{{s}}?force=true"),
    "DeleteProject": OperationCall("DELETE", f"{PROJECT}?force=true"),
    "DeleteCollection": OperationCall("DELETE", f"{COLLECTION}?force=true"),
    "RevokeAccessToken": OperationCall("DELETE", TOKENS),
}
"""In an order in which all can succeed. A status of 0 is any that is neither 401 nor 403."""

STREAMED = {"StreamEvents"}
"""Reports a refusal on the stream, not by a status: tests of the stream have it."""


class OperationWorld:
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
        if "CreateLayer" in served:
            self._add_layout()

    def _add_layout(self) -> None:
        def post(path: str, body: Any) -> str:
            http, headers = self.host.facade.http, self.host.headers
            response = http.post(f"/layout/v2/layouts{path}", headers=headers, content=json.dumps(body))
            assert response.status_code == 200, response.text
            return str(response.json()["id"])

        self.ids["l"] = post("", {"collectionId": self.show.collection, "projectId": self.show.id})
        self.ids["k"] = post(f"/{self.ids['l']}/layers", {"type": "image"})

    def call(self, user: User, call: OperationCall) -> Any:
        body = json.dumps(call.body).replace('"V"', '"ROLE_VIEWER"') if call.body is not None else None
        for name, value in self.ids.items():
            body = body and body.replace(f'"{{{name}}}"', f'"{value}"')
        return user.call(call.method, self.path(call), None if body is None else json.loads(body))

    def path(self, call: OperationCall) -> str:
        path = call.path
        for name, value in self.ids.items():
            path = path.replace(f"{{{name}}}", value)
        return path
