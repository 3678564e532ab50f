"""The watch is cut, falls silent, or is too far behind: what a subscriber saw is the cluster's in the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.api_server_proxy import Proxy, StartBehind
from tests.support.control_plane import ControlPlane
from tests.support.event_client import SignIn, WebSocket
from tests.support.facade import FacadeThread, Show, StoredResources
from tests.support.subscriber import PREFIX, SHOWS, compare, new_shows
from tests.support.waiting import wait_for

from onair_api.settings import CacheSettings


@pytest.fixture
def behind(start_behind: StartBehind) -> Iterator[FacadeThread]:
    cache = CacheSettings(
        watch_timeout_s=1, inactivity_s=1.5, stale_after_s=2.5, backoff_initial_s=0.02, backoff_max_s=0.2
    )
    with start_behind(cache=cache) as facade:
        yield facade


@pytest.fixture
def shows(behind: FacadeThread, sign_in: SignIn) -> list[Show]:
    return new_shows(sign_in(facade=behind))


def test_a_watch_that_is_cut_again_and_again_misses_nothing(
    behind: FacadeThread, proxy: Proxy, shows: list[Show], resources: StoredResources
) -> None:
    def change() -> None:
        for number in range(120):
            resources.patch("projects", shows[number % SHOWS].id, {"spec": {"metadata": {"n": number}}})
            if number % 15 == 7:
                proxy.cut()
        resources.admin.delete(resources.path("projects", shows[3].id)).raise_for_status()

    with WebSocket(behind, shows[0].user.token) as stream:
        stream.subscribe(PREFIX)
        compare([stream], shows, resources, change)


def test_a_watch_that_falls_silent_is_opened_anew(
    behind: FacadeThread, proxy: Proxy, shows: list[Show], resources: StoredResources
) -> None:
    def change() -> None:
        proxy.silence()
        for number in range(24):
            resources.patch("projects", shows[number % SHOWS].id, {"spec": {"metadata": {"silent": number}}})
        wait_for(lambda: behind.http.get("/readyz").status_code == 503, "the facade notices")
        proxy.speak()

    with WebSocket(behind, shows[0].user.token) as stream:
        stream.subscribe(PREFIX)
        compare([stream], shows, resources, change)
    wait_for(lambda: behind.http.get("/readyz").status_code == 200, "the facade is ready again")


def test_a_watch_too_far_behind_lists_again_and_tells_the_difference(
    behind: FacadeThread,
    proxy: Proxy,
    shows: list[Show],
    resources: StoredResources,
    control_plane: ControlPlane,
) -> None:
    def change() -> None:
        proxy.cut(refuse=True)
        for number, show in enumerate(shows):
            resources.patch("projects", show.id, {"spec": {"metadata": {"missed": number}}})
        for show in shows[:2]:
            resources.admin.delete(resources.path("projects", show.id)).raise_for_status()
        # An API server that has just started knows no older versions: 410 for who asks from there
        control_plane.stop_apiserver()
        control_plane.start_apiserver()
        proxy.admit()

    before = gone(behind)
    with WebSocket(behind, shows[0].user.token) as stream:
        stream.subscribe(PREFIX)
        compare([stream], shows, resources, change)
    assert gone(behind) > before, "the API server answered 410"


def gone(facade: FacadeThread) -> float:
    lines = facade.http.get("/metrics").text.splitlines()
    found = [line for line in lines if line.startswith("onair_api_watch_restarts") and "gone" in line]
    return sum(float(line.rpartition(" ")[2]) for line in found)
