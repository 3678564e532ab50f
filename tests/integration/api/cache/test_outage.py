"""The API server goes away and comes back. Runs with its own facade, quick to see that its view is stale."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.support.control_plane import ControlPlane
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.tokens import invite, refresh, refreshed
from tests.support.waiting import wait_for

from onair_api.settings import CacheSettings


@pytest.fixture
def quick(start_facade: StartFacade) -> Iterator[FacadeThread]:
    cache = CacheSettings(
        watch_timeout_s=1, inactivity_s=2, stale_after_s=2.5, backoff_initial_s=0.05, backoff_max_s=0.3
    )
    with start_facade(cache=cache) as facade:
        yield facade


def test_reads_go_on_writes_wait_and_everything_recovers(
    quick: FacadeThread, sign_in: Callable[..., User], control_plane: ControlPlane, resources: StoredResources
) -> None:
    anna = sign_in(facade=quick)
    show = anna.project()
    before = show.get()
    guest = invite(show)
    control_plane.stop_apiserver()
    try:
        assert show.get() == before
        for method, path in (("PATCH", show.path), ("POST", f"{show.path}/broadcast/start")):
            response = anna.call(method, path, {"metadata": 1})
            assert (response.status_code, response.json()["code"]) == (503, 14)
            assert int(response.headers["Retry-After"]) > 0
            assert "127.0.0.1" not in response.text
        response = anna.call(
            "POST", f"{show.path}/destination", {"address": {"srtPush": {"url": "srt://a.example:9000"}}}
        )
        assert response.status_code == 503
        assert guest.ok("GET", show.path)
        assert refresh(guest).status_code == 503, "nobody can say whether it was redeemed"
        unknown = anna.call("GET", f"/collection/{show.collection}/project/unknown")
        assert unknown.status_code == 503, "what may exist is not said to be missing"
        wait_for(lambda: quick.http.get("/readyz").status_code == 503, "the facade is not ready")
        assert quick.http.get("/readyz").json()["stale"]
        assert quick.http.get("/healthz").status_code == 200
    finally:
        control_plane.start_apiserver()
    wait_for(lambda: quick.http.get("/readyz").status_code == 200, "the facade is ready again")
    assert refreshed(guest).ok("GET", show.path), "the failed refresh did not use it up"
    assert show.patch(metadata="after")["project"]["metadata"] == "after"
    resources.patch("projects", show.id, {"spec": {"metadata": "by hand"}})
    wait_for(lambda: show.get()["project"]["metadata"] == "by hand", "the watch works again")
