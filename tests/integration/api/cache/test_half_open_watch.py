"""Two replicas, one of whose watches passes no bytes any more: what the other wrote is seen all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from tests.support.api_server_proxy import Proxy, StartBehind
from tests.support.facade import FacadeThread, Show, StoredResources, User, metric
from tests.support.waiting import wait_for

from onair_api.settings import CacheSettings
from onair_crds.kube import client as kube_client

AGE = 'onair_api_cache_age_seconds{kind="Project"}'


@pytest.fixture
def stalled(start_behind: StartBehind) -> Iterator[FacadeThread]:
    """A replica that gives a silent watch up only after an hour."""
    with start_behind(cache=CacheSettings(watch_timeout_s=1, inactivity_s=3600, stale_after_s=2)) as facade:
        yield facade


@pytest.fixture
def both(sign_in: Callable[..., User], facade: FacadeThread, stalled: FacadeThread) -> tuple[Show, Show]:
    """One show as the users of both replicas have it; the second replica knows it."""
    show = sign_in().project()
    there = Show(User(stalled, show.user.token), show.collection, show.id)
    assert wait_for(lambda: there.user.call("GET", there.path).is_success, "the token's key is known")
    return show, there


@pytest.fixture
def stall(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Ends the flow of bytes to the stalled replica's connections, of its watches and those at rest."""

    def begin() -> None:
        monkeypatch.setattr(kube_client, "REQUEST_TIMEOUT_S", 1)  # of requests on connections at rest
        proxy.stall()

    return begin


def call(show: Show, action: str) -> httpx.Response:
    def attempt() -> httpx.Response | None:
        response = show.user.call("POST", f"{show.path}/broadcast/{action}")
        return response if response.is_success else None

    return wait_for(attempt, "a new connection is opened")


def test_a_stop_is_not_lost(
    both: tuple[Show, Show], stall: Callable[[], None], resources: StoredResources
) -> None:
    show, there = both
    stall()
    call(show, "start")
    assert call(there, "stop").json() == {}
    assert resources.get("projects", show.id)["spec"]["broadcast"]["state"] == "Stopped"


def test_a_start_is_not_lost(
    both: tuple[Show, Show], stall: Callable[[], None], resources: StoredResources
) -> None:
    show, there = both
    first = show.start()
    wait_for(lambda: there.status().get("broadcastId") == first, "the start is seen")
    stall()
    call(show, "stop")
    second = call(there, "start").json()["broadcastId"]
    assert second != first
    wanted = resources.get("projects", show.id)["spec"]["broadcast"]
    assert (wanted["state"], wanted["id"]) == ("Running", second)


def test_what_the_other_replica_made_is_there_to_be_changed(
    both: tuple[Show, Show], stall: Callable[[], None], resources: StoredResources
) -> None:
    show, there = both
    address = {"address": {"rtmpPull": {"url": "rtmp://a.example/live"}}}
    source = show.user.ok("POST", f"/collection/{show.collection}/source", address)["source"]["sourceId"]
    stall()
    path = f"{show.path}/source/{source}"
    wait_for(lambda: show.user.call("PUT", path, {}).is_success, "it is in the project")
    trigger = {"trigger": {"start": "SOURCE_TRIGGER_ACTION_OR"}}

    def changed() -> httpx.Response | None:
        response = there.user.call("PATCH", path, trigger)
        return None if response.status_code == 503 else response

    assert wait_for(changed, "a new connection is opened").status_code == 200
    (stored,) = resources.get("projects", show.id)["spec"]["sources"]
    assert stored["trigger"]["start"] == "Or"


def test_a_half_open_watch_is_as_old_as_its_last_byte_and_not_ready(
    stalled: FacadeThread, proxy: Proxy
) -> None:
    assert (metric(stalled, AGE) or 0) < 2
    proxy.stall()
    wait_for(lambda: (metric(stalled, AGE) or 0) > 2, "the age grows")
    wait_for(lambda: "Project" in stalled.http.get("/readyz").json().get("stale", []), "it is not ready")
    proxy.speak()
    wait_for(lambda: stalled.http.get("/readyz").is_success, "the watches are opened anew")
