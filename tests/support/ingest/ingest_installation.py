"""Two ingest pods, facade and operator together, over a real API server, as tests use them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.support.facade import StoredResources, User
from tests.support.facade_process import FacadeProcess
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

PODS = ("onair-ingest-0", "onair-ingest-1")


@dataclass(frozen=True)
class IngestInstallation:
    pod: IngestPod
    other_pod: IngestPod
    facade: FacadeProcess
    resources: StoredResources
    user: User

    def source(self, **address: JsonObject) -> JsonObject:
        body = {"address": address}
        path = f"/collection/{self.user.collection()}/source"
        return self.user.ok("POST", path, body)["source"]  # type: ignore[no-any-return]

    def status(self, source: JsonObject) -> JsonObject:
        return self.resources.get("sources", source["sourceId"]).get("status") or {}

    def wait_connect(self, source: JsonObject, wanted: str, deadline_s: float = 20.0) -> JsonObject:
        wait_for(lambda: self.status(source).get("connect") == wanted, f"the source is {wanted}", deadline_s)
        return self.status(source)

    def events(self, source: JsonObject) -> Counter[str]:
        """How often a source's Kubernetes Events say that something happened, by their reasons."""
        query = {"fieldSelector": f"involvedObject.name={source['sourceId']}"}
        found = self.resources.admin.get(f"/api/v1/namespaces/{self.resources.shows}/events", params=query)
        counts: Counter[str] = Counter()
        for each in found.raise_for_status().json()["items"]:
            counts[each["reason"]] += each["count"]
        return counts

    def player(self, source: JsonObject) -> str:
        """Where the source's HLS preview is played."""
        url = self.user.ok("GET", f"{path_of(source)}/preview/hls")["url"]
        return self.facade.url + urlsplit(url).path


def path_of(source: JsonObject) -> str:
    return f"/collection/{source['collectionId']}/source/{source['sourceId']}"
