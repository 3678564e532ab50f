"""Subscribers that know projects from events alone, compared with what is stored."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.support.event_client import WebSocket
from tests.support.facade import DEADLINE_S, Show, StoredResources, User

from onair_crds.shapes import JsonObject

PREFIX = "apistream:live:EVENT_TYPE_PROJECT:*"
SHOWS = 12


class ProjectSubscriber:
    """Keeps projects up to date by their events."""

    def __init__(self, stream: WebSocket, known: dict[str, JsonObject]) -> None:
        self._stream = stream
        self.projects = dict(known)

    def follow(self, done: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not done():
            left_s = deadline - time.monotonic()
            assert left_s > 0, what
            self._take(self._stream.next(left_s)["result"]["event"]["payload"]["project"])

    def _take(self, payload: JsonObject) -> None:
        ((kind, body),) = payload.items()
        if kind == "delete":
            self.projects.pop(body["projectId"])
        elif kind in ("create", "update"):
            self.projects[body["project"]["projectId"]] = body["project"]


def stored(resources: StoredResources, collection: str) -> dict[str, object]:
    """Metadata of each project of a collection as the API server has it."""
    return {
        item["metadata"]["name"]: item["spec"].get("metadata")
        for item in resources.list("projects")
        if item["spec"]["collectionId"] == collection
    }


def new_shows(host: User) -> list[Show]:
    """Projects of one collection."""
    first = host.project()
    return [first, *(host.project(first.collection) for _ in range(SHOWS - 1))]


def compare(
    streams: list[WebSocket], shows: list[Show], resources: StoredResources, change: Callable[[], None]
) -> None:
    """Runs `change`; each subscriber, the facade and the API server end up with the same projects."""
    user, collection = shows[0].user, shows[0].collection
    known = {show.id: show.get()["project"] for show in shows}
    subscribers = [ProjectSubscriber(stream, known) for stream in streams]
    change()
    wanted = stored(resources, collection)

    for subscriber in subscribers:

        def matches(subscriber: ProjectSubscriber = subscriber) -> bool:
            return {id_: each["metadata"] for id_, each in subscriber.projects.items()} == wanted

        subscriber.follow(matches, "the subscriber's view is not the cluster's")
    for id_ in known.keys() - wanted.keys():
        assert user.call("GET", f"/collection/{collection}/project/{id_}").status_code == 404
    for id_ in wanted:
        project = Show(user, collection, id_).get()["project"]
        assert all(each.projects[id_]["metadata"] == project["metadata"] for each in subscribers)
