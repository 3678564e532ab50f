"""A page of the user's own in the place of the compositor: what it is opened with, and what it may."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from tests.support.docker import docker
from tests.support.media.live_view import LiveView, Pixels
from tests.support.operations import CALLS
from tests.support.pages import responding
from tests.support.pod_pair import metrics_text
from tests.support.rooms.hosted_rooms import claims_of
from tests.support.scene.live_scene import LiveLayout
from tests.support.scene.on_air import WIDTH, OnAir, square
from tests.support.scene.picture import Colour
from tests.support.waiting import wait_for
from tests.support.who_may import WHO_MAY

from onair_crds.resources.enums import Role
from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

PAGE = Path(__file__).parents[4] / "support/scene/renderer_page.html"
AWAY_S = 40.0
COLOUR = 4
BLUE, OWN, SELECTED = (0, 0, 160), (0, 64, 128), (128, 64, 0)
ADMITTED, REFUSED, NEAR = (0, 160, 0), (200, 0, 0), 60
"""Of the page's bars, whose edges are soft."""
TRIED = [name for name in CALLS if name != "RevokeAccessToken"]
"""That would end the token for the rest of the run."""
BAR_PX = WIDTH // len(TRIED)
BARS_Y = 250
LOOKED_AT = ("page.loaded", "program.taken", "program.pushed", "/live/v2/authentication/token", "chromium")
"""Is in logs, and among processes."""
PROCESSES = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' ' '"


class OwnPage:
    """The page, and every path that its server was asked for."""

    def __init__(self, settings: JsonObject) -> None:
        self.text = PAGE.read_text().replace("SETTINGS", json.dumps(settings))
        self.asked: list[str] = []

    def respond(self, path: str) -> tuple[int, str]:
        self.asked.append(path)
        return 200, self.text if path.startswith("/page") else ""

    def queries(self, name: str) -> list[dict[str, list[str]]]:
        """Of each request of this name."""
        parts = [urlsplit(each) for each in self.asked]
        return [parse_qs(each.query) for each in parts if each.path == f"/{name}"]

    @property
    def opened(self) -> list[dict[str, list[str]]]:
        """The query of each time that it was opened."""
        return self.queries("page")

    def report(self) -> JsonObject | None:
        """What the page has found, once it has."""
        assert not self.queries("failed"), self.queries("failed")
        said = self.queries("subscribed")
        found: JsonObject | None = json.loads(said[-1]["report"][0]) if said else None
        return found


def is_all(pixels: Pixels, colour: Colour) -> bool:
    """Whether the picture is of this colour, but for the bars."""
    outside = np.concatenate([pixels[:190], pixels[310:]]).astype(int)
    return bool(np.abs(outside - np.array(colour)).max() <= COLOUR)


def admitted(pixels: Pixels) -> dict[str, bool | None]:
    """Whether each call was, by its bar; None where that says neither."""
    seen = pixels[BARS_Y, BAR_PX // 2 : BAR_PX * len(TRIED) : BAR_PX].astype(int)
    found: dict[str, bool | None] = {}
    for name, colour in zip(TRIED, seen, strict=True):
        yes, no = (np.abs(colour - np.array(each)).max() <= NEAR for each in (ADMITTED, REFUSED))
        found[name] = bool(yes) if yes or no else None
    return found


def page_settings(air: OnAir, scene: LiveLayout) -> JsonObject:
    """Where the interface is, what the page is to try there, and what with."""
    project = air.client.call("GET", air.show.path)["project"]
    source, _ = air.source()
    invited = {"collectionId": air.show.collection, "projectId": air.show.project, "role": "ROLE_VIEWER"}
    code = air.client.call(
        "POST", "/authentication/token/guest-code", {**invited, "url": "https://a.example"}
    )
    other = air.client.show("http://a.example/")
    calls = {name: CALLS[name] for name in TRIED}
    bodies = {
        name: "" if each.body is None else json.dumps(each.body).replace('"V"', '"ROLE_VIEWER"')
        for name, each in calls.items()
    }
    return {
        "facade": air.address,
        "calls": [[name, each.method, each.path, bodies[name]] for name, each in calls.items()],
        "ids": {
            "d": project["destinations"][0]["destinationId"],
            "s": source,
            "l": scene.id,
            "k": scene.ids["ground"],
            "code": code["guestCode"]["code"],
        },
        "other": f"/live/v2{other.path}",
        "width": BAR_PX,
        "selected": f"rgb{SELECTED}",
    }


def readable(air: OnAir) -> Iterator[tuple[str, str]]:
    """What is read by some who are to know no token: logs, objects, Events, metrics, command lines."""
    for container in air.pod.containers:
        yield f"log of {container}", air.pod.logs(container)
        yield f"processes of {container}", docker("exec", "-u", "0", container, "sh", "-c", PROCESSES)
    for each in (air.operator, air.facade):
        yield f"log of {each.name}", each.log.read_text()
    yield "log of ingest", air.ingest.log
    yield "metrics", metrics_text(air.pod.address)
    for kind in ("pods", "events"):
        path = f"/api/v1/namespaces/{air.resources.shows}/{kind}"
        yield kind, air.resources.admin.get(path).raise_for_status().text
    for kind in ("projects", "layouts", "sources", "destinations"):
        yield kind, json.dumps(air.resources.list(kind))


def assert_nowhere(air: OnAir, *tokens: str) -> None:
    """No place has one; what has its last part could be completed."""
    places = dict(readable(air))
    for known in LOOKED_AT:
        assert any(known in text for text in places.values()), known
    signatures = [each.rsplit(".", 1)[1] for each in tokens]
    assert not [place for place, text in places.items() if any(each in text for each in signatures)]


def test_a_page_of_the_users_is_on_air_and_may_what_a_renderer_may(air: OnAir, view: LiveView) -> None:
    scene = air.scene(ground=square(BLUE))
    air.select(scene)
    view.until("the scene", lambda pixels: is_all(pixels, BLUE))
    page = OwnPage(page_settings(air, scene))
    with responding(page.respond) as address:
        own: JsonObject = {"rendererUrl": f"{address}page?own=a%20b"}
        air.compose({"scene": own})
        view.until("the page's own picture", lambda pixels: is_all(pixels, OWN), AWAY_S)
        report = wait_for(page.report, "the page has made its calls", AWAY_S, state=lambda: page.asked[-1:])
        may = {name: name in WHO_MAY[Role.RENDERER] for name in TRIED}
        view.until("what came of each call", lambda pixels: admitted(pixels) == may)
        assert report["unredeemed"] == 401, "the token itself is good for a session alone"
        assert report["other"] == 404, "it reaches one project"
        joins = claims_of(report["room"]["accessToken"])["video"]
        assert (joins["hidden"], joins["canPublish"], joins["roomAdmin"]) == (True, False, False)
        [opened] = page.opened
        [token] = opened.pop("at")
        assert opened == {"own": ["a b"]}

        air.compose({"scene": own | {"selectedLayoutId": scene.id}})
        view.until("that it heard of it", lambda pixels: is_all(pixels, SELECTED))
        assert len(page.opened) == 1, "another layout is no other page"

        air.compose({"scene": own | {"debug": True}})
        wait_for(lambda: len(page.opened) > 1, "the page is opened anew", AWAY_S)
        view.until("its picture, as it begins", lambda pixels: is_all(pixels, OWN), AWAY_S)
        [again] = page.opened[1:]
        assert again.pop("at")
        assert again == {"own": ["a b"], "debug": ["true"]}

        assert_nowhere(air, token, report["session"], report["room"]["accessToken"])
        air.compose({"scene": {"selectedLayoutId": scene.id}})
        view.until("the scene again", lambda pixels: is_all(pixels, BLUE), AWAY_S)
    scene.delete()
