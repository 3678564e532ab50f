"""However much a caller owns, reading it asks the API server for nothing: there is no N+1 behind any list."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support.facade import Show, StoredResources, User
from tests.support.waiting import wait_for

RESOURCES = ("collections", "projects", "destinations", "sources", "layouts", "secrets")
PROJECTS = 12


def reads(resources: StoredResources) -> float:
    """Objects and lists that the API server was asked for so far, of the kinds that shows are made of."""
    text = resources.admin.get("/metrics").raise_for_status().text
    return sum(
        float(line.rpartition(" ")[2])
        for line in text.splitlines()
        if line.startswith("apiserver_request_total{")
        and any(f'resource="{each}"' in line for each in RESOURCES)
        and any(f'verb="{verb}"' in line for verb in ("GET", "LIST"))
    )


@pytest.fixture
def owner(sign_in: Callable[..., User]) -> User:
    """Has projects with destinations, sources, guest codes and layouts."""
    user = sign_in()
    collection = user.collection()
    for number in range(PROJECTS):
        show = user.project(collection)
        for key in ("a", "b"):
            address = {"rtmpPush": {"url": "rtmp://a.example/live", "key": f"{key}{number}"}}
            show.destination(address=address)
        body = {"collectionId": collection, "projectId": show.id, "url": "https://a.example/"}
        user.ok("POST", "/authentication/token/guest-code", body)
        source = user.ok("POST", f"/collection/{collection}/source", {"address": {"rtmpPush": {}}})["source"]
        user.ok("PUT", f"{show.path}/source/{source['sourceId']}", {})
    return user


def test_reading_all_that_is_owned_asks_the_api_server_nothing(
    owner: User, resources: StoredResources
) -> None:
    found = owner.ok("GET", "/collection")["collections"]
    projects = found[0]["projects"]
    shows = [Show(owner, found[0]["collectionId"], each["projectId"]) for each in projects]
    wait_for(lambda: quiet(owner, resources), "nobody else reads")
    before = reads(resources)
    for _ in range(3):
        assert len(owner.ok("GET", "/collection")["collections"][0]["projects"]) == PROJECTS
        for show in shows:
            read = show.get()["project"]
            assert all(each["address"]["rtmpPush"]["key"] for each in read["destinations"])
            assert len(read["guestCodes"]) == 1
        owner.ok("GET", f"/collection/{shows[0].collection}/source")
    assert reads(resources) == before


def quiet(owner: User, resources: StoredResources) -> bool:
    """Whether a while passes without a read, though the first may fill what is remembered."""
    owner.ok("GET", "/collection")
    before = reads(resources)
    owner.ok("GET", "/collection")
    return reads(resources) == before


def test_projects_and_destinations_come_oldest_first(sign_in: Callable[..., User]) -> None:
    """Also those of one second, which Kubernetes distinguishes by their names alone."""
    user = sign_in()
    collection = user.collection()
    shows = [user.project(collection) for _ in range(8)]
    address = {"srtPush": {"url": "srt://a.example:9000"}}
    made = [shows[0].destination(address=address)["destinationId"] for _ in range(8)]
    (found,) = user.ok("GET", "/collection")["collections"]
    assert [each["projectId"] for each in found["projects"]] == [show.id for show in shows]
    assert [each["destinationId"] for each in found["projects"][0]["destinations"]] == made
