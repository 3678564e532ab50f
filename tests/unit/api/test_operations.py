"""The table of operations: complete, without contradictions, and true to what was decided."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.support.operations import TOKEN_OPERATIONS
from tests.support.who_may import WHO_MAY

from onair_api.auth.callers import ByAccessToken
from onair_api.http.openapi import document
from onair_api.http.routes import methods_and_paths
from onair_api.operation import StreamOperation
from onair_api.operations import OPERATIONS, schemas
from onair_crds.resources.enums import Role

COLLECTION_WIDE = {
    *("GetCollections", "CreateCollection", "GetCollection", "UpdateCollection", "DeleteCollection"),
    *("CreateProject", "GetSources", "CreateSource", "GetSource", "UpdateSource", "DeleteSource"),
    "GetSourceHlsPreview",
}
GUESTS = (Role.COHOST, Role.CONTRIBUTOR, Role.GUEST, Role.VIEWER, Role.RENDERER)

ADMITTED = {each.name: each.access.roles for each in OPERATIONS if isinstance(each.access, ByAccessToken)}
MAY = {role: {name for name, roles in ADMITTED.items() if role in roles} for role in Role}


def test_every_operation_admits_whom_was_decided() -> None:
    assert MAY == WHO_MAY


def test_a_host_may_call_everything_and_the_platform_nothing() -> None:
    assert MAY[Role.HOST] == TOKEN_OPERATIONS
    assert MAY[Role.PLATFORM] == set()


@pytest.mark.parametrize("role", GUESTS)
def test_every_guest_reads_its_project_and_sees_its_events(role: Role) -> None:
    own = {"RefreshAccessToken", "GetProject", "GetProjectBroadcastStatus"}
    assert MAY[role] >= own | {"StreamEvents", "CreateWebRtcAccessToken"}


@pytest.mark.parametrize("role", GUESTS)
def test_no_guest_reaches_beyond_its_project_or_deletes_it(role: Role) -> None:
    assert not MAY[role] & (COLLECTION_WIDE | {"DeleteProject"})


def test_a_cohost_may_call_everything_else_in_its_project() -> None:
    assert MAY[Role.COHOST] == TOKEN_OPERATIONS - COLLECTION_WIDE - {"DeleteProject"}


def test_who_publishes() -> None:
    publishers = {role for role in Role if "PublishEvent" in MAY[role]}
    assert publishers == set(Role) - {Role.VIEWER, Role.PLATFORM}


def test_who_reads_and_who_changes_layouts() -> None:
    layouts = {each.name for each in OPERATIONS if each.docs.tag in ("layouts", "layers")}
    reads = {name for name in layouts if name.startswith(("Get", "List"))}
    assert MAY[Role.CONTRIBUTOR] & layouts == layouts
    assert MAY[Role.RENDERER] & layouts == reads
    for role in (Role.GUEST, Role.VIEWER):
        assert not MAY[role] & layouts


def test_an_impersonator_hands_nothing_on() -> None:
    guests = {"CreateGuestAccessToken", "CreateGuestCode", "GetGuestCode", "DeleteGuestCode"}
    guests |= {"GetGuestCodes"}
    assert MAY[Role.IMPERSONATE] == TOKEN_OPERATIONS - guests - {"CreateSource"}


def test_names_and_routes_are_unique() -> None:
    names = Counter(each.name for each in OPERATIONS)
    routes = Counter(route for each in OPERATIONS for route in methods_and_paths(each.http))
    assert set(names.values()) == set(routes.values()) == {1}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_an_operation_is_served_by_a_method_of_its_service(operation: Any) -> None:
    if not isinstance(operation, StreamOperation):
        assert (
            getattr(operation.service.owner, operation.service.function.__name__)
            is operation.service.function
        )


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_an_operation_names_messages_that_exist(operation: Any) -> None:
    assert {operation.messages.response, operation.messages.request} - {None} <= set(schemas())


def test_the_document_has_every_operation_once() -> None:
    paths = document("https://onair.example").get("paths", {})
    ids = [described["operationId"] for path in paths.values() for described in path.values()]
    assert len(ids) == len(set(ids))
    assert {each.name for each in OPERATIONS} <= set(ids)
