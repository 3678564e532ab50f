"""A replica whose watch is behind writes nothing to a later object of the name that it knows."""

from __future__ import annotations

import secrets

import pytest
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.late_watch import hold_up
from tests.support.layouts import layout
from tests.support.tokens import assert_error

from onair_api.cache.watched_kinds import LAYOUT, PROJECT
from onair_crds.shapes import Document, JsonObject

CALLS: list[tuple[str, str, JsonObject]] = [
    ("PATCH", "", {"metadata": "mine"}),
    ("POST", "/broadcast/start", {}),
    ("DELETE", "?force=true", {}),
]


def recreate(resources: StoredResources, kind: str, plural: str, name: str, spec: Document) -> None:
    """Somebody else gives the name to an object of theirs."""
    resources.admin.delete(resources.path(plural, name)).raise_for_status()
    resources.apply(kind, plural, name, spec)


@pytest.fixture
def theirs(resources: StoredResources) -> str:
    """A collection of another user's."""
    name = f"c-{secrets.token_hex(4)}"
    owner = {"serviceId": "studio", "serviceUserId": "bob"}
    resources.apply("Collection", "collections", name, {"owner": owner})
    return name


@pytest.mark.parametrize(("method", "path", "body"), CALLS, ids=str)
def test_nothing_is_done_to_a_later_project_of_the_name(
    anna: User,
    resources: StoredResources,
    facade: FacadeThread,
    theirs: str,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    path: str,
    body: JsonObject,
) -> None:
    show = anna.project()
    hold_up(facade, PROJECT, monkeypatch)
    recreate(resources, "Project", "projects", show.id, {"collectionId": theirs, "metadata": "theirs"})
    before = resources.get("projects", show.id)
    assert_error(anna.call(method, show.path + path, body), 404, 5)
    assert resources.get("projects", show.id) == before


def test_no_layer_is_added_to_a_later_layout_of_the_name(
    anna: User, resources: StoredResources, facade: FacadeThread, theirs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = anna.project()
    made = layout(show)
    hold_up(facade, LAYOUT, monkeypatch)
    spec = {key: value for key, value in resources.get("layouts", made.id)["spec"].items() if key != "layers"}
    recreate(resources, "Layout", "layouts", made.id, {**spec, "projectId": f"p-{theirs}"})
    before = resources.get("layouts", made.id)
    assert_error(made.call("POST", "/layers", {"type": "text"}), 404, 5)
    assert resources.get("layouts", made.id) == before
