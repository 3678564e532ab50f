"""A client of the HTTP interface, as a user's backend would use it."""

from __future__ import annotations

import os
from typing import Any

import httpx
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject


class FacadeClient:
    """A user's session: fetches a token with the API key and uses it for all requests."""

    def __init__(self, url: str, api_key: str, user: str = "e2e") -> None:
        # A connection for each request: one that stood idle may end, with its pod, as it is used again
        self.http = httpx.Client(
            base_url=url,
            timeout=15,
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,
            verify=NO_TLS,
        )
        self.url, self.user = url, user
        self.sign_in(api_key)

    def sign_in(self, api_key: str) -> None:
        """Fetches a new token, as one ends with the API key that it was issued for."""
        response = self.http.post(
            "/live/v2/authentication/token", headers={"X-API-Key": api_key}, json={"serviceUserId": self.user}
        )
        self.token = str(response.raise_for_status().json()["accessToken"])
        self.http.headers["Authorization"] = f"Bearer {self.token}"

    @classmethod
    def from_environment(cls, user: str = "e2e") -> FacadeClient:
        """Connects to the facade that the variables of `make env` name."""
        return cls(os.environ["ONAIR_URL"], os.environ["ONAIR_API_KEY"], user)

    def another_session(self, api_key: str) -> FacadeClient:
        """Another session of the user at the same facade."""
        return FacadeClient(str(self.http.base_url), api_key, self.user)

    def call(self, method: str, path: str, body: JsonObject | None = None, **params: Any) -> JsonObject:
        response = self.http.request(method, f"/live/v2{path}", json=body, params=params)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        message: JsonObject = response.json()
        return message

    def create_collection(self) -> str:
        return str(self.call("POST", "/collection", {})["collection"]["collectionId"])

    def delete_collections(self) -> int:
        """Deletes all collections of the user, with shows that are on air; returns how many there were."""
        page = self.call("GET", "/collection")
        ids = [each["collectionId"] for each in page["collections"]]
        while token := page.get("nextPageToken"):
            page = self.call("GET", "/collection", pageToken=token)
            ids += [each["collectionId"] for each in page["collections"]]
        for id_ in ids:
            self.call("DELETE", f"/collection/{id_}", force="true")
        return len(ids)

    def show(self, page: str, width: int = 640, height: int = 360, **project: Any) -> LiveShow:
        """Creates a collection with a project that renders the page."""
        collection = self.create_collection()
        body = {
            "composition": {"external": {"url": page}},
            "rendering": {"video": {"width": width, "height": height, "framerate": 30}},
            **project,
        }
        created = self.call("POST", f"/collection/{collection}/project", body)["project"]
        return LiveShow(self, collection, created["projectId"])


class LiveShow:
    """A project in the cluster, controlled over HTTP."""

    def __init__(self, facade: FacadeClient, collection: str, project: str) -> None:
        self.facade, self.collection, self.project = facade, collection, project
        self.path = f"/collection/{collection}/project/{project}"

    def add_destination(self, url: str, key: str | None = None, **fields: Any) -> str:
        rtmp = {"url": url, **({"key": key} if key else {})}
        body = {"address": {"rtmpPush": rtmp}, **fields}
        created = self.facade.call("POST", f"{self.path}/destination", body)
        return str(created["destination"]["destinationId"])

    def update_destination(self, destination: str, **fields: Any) -> JsonObject:
        return self.facade.call("PATCH", f"{self.path}/destination/{destination}", fields)

    def remove_destination(self, destination: str) -> JsonObject:
        return self.facade.call("DELETE", f"{self.path}/destination/{destination}", force="true")

    def start(self) -> str:
        return str(self.facade.call("POST", f"{self.path}/broadcast/start")["broadcastId"])

    def stop(self) -> None:
        self.facade.call("POST", f"{self.path}/broadcast/stop")

    def status(self) -> JsonObject:
        status: JsonObject = self.facade.call("GET", f"{self.path}/broadcast/status")["status"]
        return status

    def wait_phase(self, phase: str, timeout_s: float = 60.0) -> JsonObject:
        def reached() -> JsonObject | None:
            status = self.status()
            return status if status["phase"] == f"PROJECT_BROADCAST_PHASE_{phase}" else None

        return wait_for(reached, f"phase {phase}", timeout_s, poll_s=0.05, state=self.status)

    def delete(self) -> None:
        self.facade.call("DELETE", f"/collection/{self.collection}", force="true")
