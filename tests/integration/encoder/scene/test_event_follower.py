"""Changes of layers over HTTP and by kubectl reach a pod's page at once, by the real facade."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.support.facade import FacadeThread, Show, StoredResources, User
from tests.support.layouts import LayoutClient, scene
from tests.support.scenes import PageConnection
from tests.support.signed_page_token import renderer_key, signed_page_token
from tests.support.small_program import small_program
from tests.support.tokens import refresh, refreshed
from tests.support.waiting import until, wait_for

from onair_crds.contract.pod import COMPOSITOR_URL
from onair_crds.contract.program import Program
from onair_crds.contract.scene import ProgramScene, program_layout
from onair_crds.shapes import JsonObject
from onair_encoder.loopback import serve
from onair_encoder.scene.event_follower import EventFollower
from onair_encoder.scene.feed import SceneFeed

ANIMATION = [{"properties": ["x"], "durationMs": 300}]


@pytest.fixture(scope="module", autouse=True)
def key(resources: StoredResources) -> None:
    """The facade knows the operator's key before a token is used."""
    renderer_key(resources)


@pytest.fixture
def show(host: User, resources: StoredResources) -> Show:
    show = host.project()
    resources.set_broadcast(show.id, {"id": "run", "epoch": 1, "phase": "Running"})
    return show


def program(resources: StoredResources, show: Show, canvas: LayoutClient, token: str) -> Program:
    """As the operator would make it."""
    layout = resources.get("layouts", canvas.id)
    version = int(layout["metadata"]["resourceVersion"])
    carried = program_layout(canvas.id, version, layout["spec"], 1280, 720)
    return small_program(
        project=show.id,
        collection=show.collection,
        composition_url=COMPOSITOR_URL,
        scene=ProgramScene(selected_layout_id=canvas.id, layouts=[carried]),
        page_token=SecretStr(token),
        facade_url=show.user.facade.url,
    )


class SceneAgent:
    """The part of an agent that feeds its page."""

    def __init__(self, folder: Path) -> None:
        self.feed = SceneFeed(folder / "scene.json", folder, lambda: None)
        self.follower = EventFollower(self.feed.apply)
        self.address = ""

    async def want(self, wanted: Program) -> None:
        self.feed.want(wanted)
        self.follower.want(wanted)
        await until(lambda: self.follower.follows, "it follows", 10)


@pytest.fixture
async def encoder(tmp_path: Path) -> AsyncIterator[SceneAgent]:
    encoder = SceneAgent(tmp_path)
    runner = await serve("127.0.0.1", 0, encoder.feed.add_to)
    encoder.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    following = asyncio.create_task(encoder.follower.run())
    yield encoder
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    await runner.cleanup()
    encoder.feed.close()


async def changed(page: PageConnection, layer: str, **fields: Any) -> JsonObject:
    """The next change, which has to be of this layer to these values."""
    told = await page.told()
    assert told["type"] == "layers"
    found = next(each for each in told["upsert"] if each["id"] == layer)
    assert {name: found[name] for name in fields} == fields
    return told


async def test_a_patch_and_a_kubectl_edit_reach_the_page_a_patch_with_its_animation(
    encoder: SceneAgent, show: Show, resources: StoredResources
) -> None:
    canvas = scene(show)
    left = canvas.add(parentId=canvas.root(), x=1)["id"]
    await encoder.want(program(resources, show, canvas, signed_page_token(resources, show)))
    async with PageConnection.connected(encoder.address) as page:
        assert (await page.told())["selectedLayoutId"] == canvas.id
        await asyncio.to_thread(canvas.patch, left, x=5, requestAnimation=ANIMATION)
        animation = (await changed(page, left, x=5))["animation"]
        assert animation["mode"] == "PARALLEL"
        [animated] = animation["layers"]
        assert (animated["id"], animated["requestAnimation"][0]["durationMs"]) == (left, 300)
        layers = resources.get("layouts", canvas.id)["spec"]["layers"]
        edited = [{**each, "x": 9} if each["id"] == left else each for each in layers]
        await asyncio.to_thread(resources.patch, "layouts", canvas.id, {"spec": {"layers": edited}})
        assert (await changed(page, left, x=9))["animation"] is None


async def test_a_batch_is_one_change_and_its_new_layers_are_in_their_parents(
    encoder: SceneAgent, show: Show, resources: StoredResources
) -> None:
    canvas = scene(show)
    root = canvas.root()
    await encoder.want(program(resources, show, canvas, signed_page_token(resources, show)))
    async with PageConnection.connected(encoder.address) as page:
        await page.told()
        items = [
            {"create": {"type": "square", "parentId": root, "requestAnimation": ANIMATION}},
            {"create": {"type": "text", "parentId": "index:0", "requestAnimation": ANIMATION}},
        ]
        mode = "REQUEST_ANIMATION_MODE_SERIES"
        made = await asyncio.to_thread(canvas.batch, *items, requestAnimationMode=mode)
        first, second = (each["create"]["id"] for each in made["layers"])
        told = await page.told()
        children = {each["id"]: each["children"] for each in told["upsert"]}
        assert children == {root: [first], first: [second], second: []}
        assert told["animation"]["mode"] == "SERIES"
        await asyncio.to_thread(canvas.delete, first)
        gone: set[str] = set()
        while gone != {first, second}:
            gone |= {*(await page.told())["remove"]}
    async with PageConnection.connected(encoder.address) as page:
        [shown] = (await page.told())["layouts"]
        assert [(each["id"], each["children"]) for each in shown["layers"]] == [(root, [])]


def test_a_page_token_keeps_its_project_and_ends_with_its_run(
    show: Show, resources: StoredResources, one: FacadeThread
) -> None:
    page = User(one, signed_page_token(resources, show))
    assert page.call("GET", show.path).status_code == 401
    session = wait_for(lambda: refresh(page).is_success and refreshed(page), "the key is known")
    assert session.ok("GET", show.path)["project"]["projectId"] == show.id
    assert session.call("PATCH", show.path, {"metadata": 1}).status_code == 403
    other = show.user.project()
    assert session.call("GET", other.path).status_code == 404
    assert refreshed(session).ok("GET", show.path)
    keys = one.http.get("/live/v2/authentication/jwks").json()["keys"]
    assert len(keys) == 2
    resources.set_broadcast(show.id, {"phase": "Stopped"})
    wait_for(lambda: refresh(page).status_code == 401, "the run is over")
