"""A client of the HTTP interface, as a user's program would be one."""

from __future__ import annotations

import os
import time
from typing import Any

import httpx

Document = dict[str, Any]


class Facade:
    """One user's session: fetches a token with the API key and speaks with it from then on."""

    def __init__(self, url: str, api_key: str, user: str = "e2e") -> None:
        self.http = httpx.Client(base_url=url, timeout=15)
        answer = self.http.post(
            "/live/v2/authentication/token", headers={"X-API-Key": api_key}, json={"serviceUserId": user}
        )
        token = answer.raise_for_status().json()["accessToken"]
        self.http.headers["Authorization"] = f"Bearer {token}"

    @classmethod
    def from_environment(cls, user: str = "e2e") -> Facade:
        """The running one, as `make env` names it."""
        return cls(os.environ["ONAIR_URL"], os.environ["ONAIR_API_KEY"], user)

    def call(self, method: str, path: str, body: Document | None = None, **params: Any) -> Document:
        answer = self.http.request(method, f"/live/v2{path}", json=body, params=params)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        document: Document = answer.json()
        return document

    def create_collection(self) -> str:
        return str(self.call("POST", "/collection", {})["collection"]["collectionId"])

    def show(self, page: str, width: int = 640, height: int = 360, **project: Any) -> Show:
        """A new collection with a project that renders the page."""
        collection = self.create_collection()
        body = {
            "composition": {"external": {"url": page}},
            "rendering": {"video": {"width": width, "height": height, "framerate": 30}},
            **project,
        }
        created = self.call("POST", f"/collection/{collection}/project", body)["project"]
        return Show(self, collection, created["projectId"])


class Show:
    """One project over HTTP."""

    def __init__(self, facade: Facade, collection: str, project: str) -> None:
        self.facade, self.collection, self.project = facade, collection, project
        self.path = f"/collection/{collection}/project/{project}"

    def add_destination(self, url: str, key: str | None = None, **fields: Any) -> str:
        rtmp = {"url": url, **({"key": key} if key else {})}
        body = {"address": {"rtmpPush": rtmp}, **fields}
        created = self.facade.call("POST", f"{self.path}/destination", body)
        return str(created["destination"]["destinationId"])

    def update_destination(self, destination: str, **fields: Any) -> Document:
        return self.facade.call("PATCH", f"{self.path}/destination/{destination}", fields)

    def remove_destination(self, destination: str) -> Document:
        return self.facade.call("DELETE", f"{self.path}/destination/{destination}", force="true")

    def start(self) -> str:
        return str(self.facade.call("POST", f"{self.path}/broadcast/start")["broadcastId"])

    def stop(self) -> None:
        self.facade.call("POST", f"{self.path}/broadcast/stop")

    def status(self) -> Document:
        status: Document = self.facade.call("GET", f"{self.path}/broadcast/status")["status"]
        return status

    def wait_phase(self, phase: str, timeout_s: float = 60.0) -> Document:
        deadline = time.monotonic() + timeout_s
        while True:
            status = self.status()
            if status["phase"] == f"PROJECT_BROADCAST_PHASE_{phase}":
                return status
            assert time.monotonic() < deadline, f"not {phase} within {timeout_s} s but {status}"
            time.sleep(0.05)

    def delete(self) -> None:
        self.facade.call("DELETE", f"/collection/{self.collection}", force="true")
