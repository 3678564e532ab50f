"""The page of a studio's project: answers name the one in force; newer clients have another key for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.support.event_client import WebSocket, events_of
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.tokens import invite, seen_by

from onair_crds.shapes import JsonObject

BASE = "https://studio.example/renderer"


def stored(version: str = "3") -> JsonObject:
    return {"studioSdk": {"version": version}}


def shown(version: str = "3") -> JsonObject:
    return {"studioSdk": {"version": version, "rendererUrl": f"{BASE}/{version}/"}}


@pytest.fixture(scope="module")
def studio(start_facade: StartFacade) -> Iterator[FacadeThread]:
    """A replica that knows where versions of the studio's page are."""
    with start_facade(renderer_base_url=BASE) as facade:
        yield facade


@pytest.fixture
def anna(studio: FacadeThread, sign_in: Callable[..., User]) -> User:
    return sign_in(facade=studio)


def test_a_host_is_told_the_page_in_force(anna: User) -> None:
    collection = anna.collection()
    project = {"composition": stored()}
    made = anna.ok("POST", f"/collection/{collection}/project", project)["project"]
    path = f"/collection/{collection}/project/{made['projectId']}"
    (listed,) = anna.ok("GET", "/collection")["collections"][0]["projects"]
    (owned,) = anna.ok("GET", f"/collection/{collection}")["collection"]["projects"]
    read = anna.ok("GET", path)["project"]
    updated = anna.ok("PATCH", path, {"metadata": 1})["project"]
    assert [each["composition"] for each in (made, read, listed, owned, updated)] == [shown()] * 5


@pytest.mark.parametrize(
    ("role", "seen"),
    [("VIEWER", stored), ("GUEST", stored), ("CONTRIBUTOR", shown), ("RENDERER", shown), ("COHOST", shown)],
)
def test_guests_who_only_watch_or_talk_are_not(
    anna: User, studio: FacadeThread, role: str, seen: Callable[..., JsonObject]
) -> None:
    show = anna.project(composition=stored())
    guest = invite(show, role)
    assert seen_by(guest, show).get()["project"]["composition"] == seen()
    with WebSocket(studio, anna.token) as own, WebSocket(studio, guest.token) as guests:
        for stream in (own, guests):
            stream.subscribe("apistream:live:EVENT_TYPE_PROJECT:*")
        show.patch(composition=stored("4"))
        for stream, told in ((own, shown), (guests, seen)):
            (result,) = events_of(stream, 1)
            update = result["event"]["payload"]["project"]["update"]
            assert update["project"]["composition"] == told("4")
            assert update["updateMask"] == ["composition.studioSdk.version"]


def test_an_answer_that_is_sent_back_stores_nothing_new(anna: User, resources: StoredResources) -> None:
    show = anna.project(composition=stored())
    answer = show.get()["project"]["composition"]
    before = resources.get("projects", show.id)["spec"]
    masks: list[dict[str, str]] = [
        {},
        {"updateMask": "composition"},
        {"updateMask": "composition.studioSdk.rendererUrl"},
    ]
    for mask in masks:
        assert show.patch(composition=answer, **mask)["project"]["composition"] == shown()
        assert resources.get("projects", show.id)["spec"] == before
    copied = anna.project(show.collection, composition=answer)
    assert resources.get("projects", copied.id)["spec"]["composition"] == stored()
    newer = show.patch(composition={"studioSdk": {**answer["studioSdk"], "version": "4"}})
    assert newer["project"]["composition"] == shown("4")
    assert resources.get("projects", show.id)["spec"]["composition"] == stored("4")


def test_the_key_of_newer_clients_is_treated_alike(anna: User, resources: StoredResources) -> None:
    show = anna.project(composition={"studioRenderer": {"version": "3", "activeSceneId": "s"}})
    assert show.get()["project"]["composition"] == shown()
    own = "https://pages.example/mine/"
    for changes, kept in (
        ({"rendererUrl": own, "version": "4", "activeSceneId": "t"}, {"rendererUrl": own, "version": "4"}),
        ({"activeSceneId": "s"}, {"rendererUrl": own, "version": "4"}),
        ({"version": "5"}, {"rendererUrl": own, "version": "5"}),
    ):
        answer = show.patch(composition={"studioRenderer": changes})["project"]["composition"]
        assert answer == {"studioSdk": kept}
        assert resources.get("projects", show.id)["spec"]["composition"] == answer
    mask = "composition.studioRenderer.rendererUrl"
    masked = show.patch(composition={"studioRenderer": {"version": "6"}}, updateMask=mask)
    assert masked["project"]["composition"] == shown("5")
    assert resources.get("projects", show.id)["spec"]["composition"] == stored("5")
