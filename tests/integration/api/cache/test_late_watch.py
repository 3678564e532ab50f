"""A replica decides rightly by what its watch has not shown yet: a show that began, a project that went."""

from __future__ import annotations

import pytest
from tests.support.facade import FacadeThread, Show, StoredResources, User
from tests.support.late_watch import hold_up
from tests.support.layouts import layout
from tests.support.tokens import assert_error
from tests.support.waiting import wait_for

from onair_api.cache.watched_kinds import PROJECT
from onair_crds.shapes import JsonObject

RUNNING = {"spec": {"broadcast": {"state": "Running", "id": "other"}}}


@pytest.fixture
def show(
    anna: User, resources: StoredResources, facade: FacadeThread, monkeypatch: pytest.MonkeyPatch
) -> Show:
    """A show with a source, put on air behind the facade's back."""
    show = anna.project()
    address: JsonObject = {"address": {"rtmpPush": {}}}
    made = anna.ok("POST", f"/collection/{show.collection}/source", address)["source"]["sourceId"]
    anna.ok("PUT", f"{show.path}/source/{made}", {})
    hold_up(facade, PROJECT, monkeypatch)
    resources.patch("projects", show.id, RUNNING)
    return show


def test_a_collection_is_not_deleted_without_force(show: Show, resources: StoredResources) -> None:
    path = f"/collection/{show.collection}"
    assert_error(show.user.call("DELETE", path), 400, 9)
    assert resources.exists("collections", show.collection)
    assert resources.exists("projects", show.id)
    assert show.user.ok("DELETE", f"{path}?force=true")["projectIdsStopped"] == [show.id]


def test_a_source_is_not_deleted_without_force(show: Show, resources: StoredResources) -> None:
    (source,) = resources.get("projects", show.id)["spec"]["sources"]
    path = f"/collection/{show.collection}/source/{source['sourceId']}"
    assert_error(show.user.call("DELETE", path), 400, 9)
    assert resources.exists("sources", source["sourceId"])
    assert resources.get("projects", show.id)["spec"]["sources"] == [source]
    assert show.user.ok("DELETE", f"{path}?force=true") == {"projectIdsUpdated": [show.id]}


def test_a_layout_that_went_with_its_project_is_deleted_already(
    anna: User, resources: StoredResources, facade: FacadeThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = anna.project()
    made = layout(show)
    hold_up(facade, PROJECT, monkeypatch)
    for plural, name in (("projects", show.id), ("layouts", made.id)):
        resources.admin.delete(resources.path(plural, name)).raise_for_status()
    places = facade.services.cluster.view.gone_layouts
    wait_for(lambda: places.place(made.id), "the replica knows that the layout has gone")
    assert anna.call("DELETE", made.path).is_success
