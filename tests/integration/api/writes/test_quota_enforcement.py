"""What one user and one service may have at a time, through whichever door."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from tests.support.facade import FacadeThread, Show, StartFacade, User
from tests.support.waiting import wait_for

from onair_api.settings import QuotaSettings
from onair_crds.shapes import JsonObject

LOW = {
    "collections": 2,
    "projects": 2,
    "destinations": 1,
    "sources": 1,
    "layouts": 1,
    "guest_codes": 1,
    "broadcasts": 1,
    "pixels_per_second": 50_000_000,
    "metadata_bytes": 1000,
}
PUSHED = {"address": {"rtmpPush": {"enabled": True}}}
DELIVERED = {"address": {"rtmpPush": {"url": "rtmp://media.example/live", "key": "k"}}}
HD: JsonObject = {"rendering": {"video": {"width": 1920, "height": 1080}}}


@pytest.fixture(scope="module")
def limited(start_facade: StartFacade) -> Iterator[FacadeThread]:
    default = QuotaSettings()
    per_user = default.per_user.model_copy(update=LOW)
    with start_facade(quotas=default.model_copy(update={"per_user": per_user})) as facade:
        yield facade


@pytest.fixture
def limited_user(limited: FacadeThread, sign_in: Callable[..., User]) -> User:
    return sign_in(facade=limited)


def refused(response: httpx.Response, quota: str) -> None:
    assert response.status_code == 429, response.text
    body = response.json()
    assert body["code"] == 8
    name = f"api.quotas.perUser.{quota}"
    limit = next(value for key, value in LOW.items() if key.replace("_", "") == quota.lower())
    assert f"{name} is {limit}, of which " in body["message"]
    [detail] = body["details"]
    assert detail["@type"] == "type.googleapis.com/google.rpc.QuotaFailure"
    assert name in detail["violations"][0]["description"]


def test_each_kind_of_resource_has_a_quota_that_deletions_give_back(limited_user: User) -> None:
    user = limited_user
    show = user.project()
    collection = user.collection()
    refused(user.call("POST", "/collection", {}), "collections")
    user.ok("POST", f"/collection/{collection}/project", {})
    refused(user.call("POST", f"/collection/{show.collection}/project", {}), "projects")
    made = show.destination(**DELIVERED)
    refused(user.call("POST", f"{show.path}/destination", DELIVERED), "destinations")
    user.ok("POST", f"/collection/{collection}/source", PUSHED)
    refused(user.call("POST", f"/collection/{show.collection}/source", PUSHED), "sources")
    layout = {"projectId": show.id, "width": 1280, "height": 720}
    user.ok("POST", "/layout/v2/layouts", layout)
    refused(user.call("POST", "/layout/v2/layouts", layout), "layouts")
    user.ok("DELETE", f"{show.path}/destination/{made['destinationId']}?force=true")
    show.destination(**DELIVERED)


def test_another_user_has_quotas_of_their_own(
    limited: FacadeThread, limited_user: User, sign_in: Callable[..., User]
) -> None:
    for _ in range(2):
        limited_user.collection()
    refused(limited_user.call("POST", "/collection", {}), "collections")
    sign_in(facade=limited).collection()


def test_guest_codes_have_a_quota(limited_user: User) -> None:
    show = limited_user.project()
    body = {"collectionId": show.collection, "projectId": show.id, "url": "https://a.example/"}
    path = "/authentication/token/guest-code"
    limited_user.ok("POST", path, body)
    refused(limited_user.call("POST", path, body), "guestCodes")


def test_what_is_on_air_is_limited_by_number_and_by_size(limited_user: User) -> None:
    small, large = limited_user.project(), limited_user.project(**HD)
    refused(limited_user.call("POST", f"{large.path}/broadcast/start"), "pixelsPerSecond")
    run = small.start()
    assert small.start() == run, "what runs is not counted twice"
    large.patch(rendering={"video": {"width": 640, "height": 360}})
    refused(limited_user.call("POST", f"{large.path}/broadcast/start"), "broadcasts")
    refused(limited_user.call("PATCH", small.path, HD), "pixelsPerSecond")
    small.stop()
    wait_for(lambda: _starts(large), "the stopped one counts no more")


def _starts(show: Show) -> bool:
    return bool(show.user.call("POST", f"{show.path}/broadcast/start").status_code == 200)


def test_metadata_of_everything_counts_together(limited_user: User) -> None:
    collection = limited_user.collection(metadata={"a": "x" * 600})
    path = f"/collection/{collection}"
    refused(limited_user.call("POST", f"{path}/project", {"metadata": {"a": "x" * 600}}), "metadataBytes")
    refused(limited_user.call("PATCH", path, {"metadata": {"a": "x" * 1200}}), "metadataBytes")
    limited_user.ok("PATCH", path, {"metadata": {"a": "x" * 800}})
    limited_user.ok("PATCH", path, {"metadata": {"a": "x"}})
    limited_user.project(collection, metadata={"a": "x" * 600})


def test_large_sources_are_not_added_to_ever_more_projects(
    limited: FacadeThread, sign_in: Callable[..., User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onair_api.writes.quota_enforcement.MAX_COLLECTION_BYTES", 4000)
    user = sign_in(facade=limited)
    shows = [user.project()]
    shows.append(user.project(shows[0].collection))
    made = {**PUSHED, "metadata": {"a": "x" * 500}}
    source = user.ok("POST", f"/collection/{shows[0].collection}/source", made)["source"]["sourceId"]
    first, second = (f"{show.path}/source/{source}" for show in shows)
    user.ok("PUT", first, {})
    response = user.call("PUT", second, {})
    assert (response.status_code, response.json()["code"]) == (429, 8), response.text
    assert "the record of a collection may take 4000 bytes" in response.json()["message"]
    assert response.headers["Retry-After"]
    user.ok("DELETE", first)
    user.ok("PUT", second, {})
