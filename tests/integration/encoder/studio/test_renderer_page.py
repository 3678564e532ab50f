"""A page that makes the public renderer's calls is on air with a pushed source as its camera."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import pytest
from pydantic import SecretStr
from tests.support.delivery.livekit_server import LiveKitServer, client_script
from tests.support.docker import host_address
from tests.support.facade import FacadeThread, Show, StartFacade, StoredResources, User
from tests.support.ingest.clip import ClipEncoding, make_clip
from tests.support.ingest.page_relay import PORT, SECRET
from tests.support.ingest.watched_page import WatchedPage
from tests.support.media.painted import read_frame
from tests.support.media.stream import gray_frames, loudness
from tests.support.pages import served
from tests.support.pod_pair import programme
from tests.support.rooms.hosted_rooms import (
    HOSTED,
    add_credentials,
    join,
    room_of,
    settings_for,
    signal_url,
)
from tests.support.rooms.member import plain_camera
from tests.support.sdk.public_sdk import script
from tests.support.signed_page_token import signed_page_token
from tests.support.waiting import wait_for

from onair_crds.contract.ingest_gateway import reader_token
from onair_crds.contract.program import Program, ProgramSource, ProgramStudio
from onair_crds.contract.redirect import REDIRECTED_HOSTS
from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

SOURCE, STREAM = "source-cam", "one"
WIDTH, HEIGHT = 640, 360
STEPS = ["refreshed", "project", "layers", "subscribed", "status", "engine", "room", "rendered"]
GUEST_COLOUR = (208, 112, 16)
NEAR = 16
"""A canvas of the page says what colour it has drawn."""


class Reached(NamedTuple):
    """A facade and a room server that containers reach."""

    facade: FacadeThread
    rooms: LiveKitServer


@pytest.fixture
def reached(start_facade: StartFacade, resources: StoredResources, tmp_path: Path) -> Iterator[Reached]:
    add_credentials(resources)
    host = host_address()
    server = LiveKitServer(tmp_path, host, room={"auto_create": False})
    media = {"tcp_port": server.tcp_port, "udp_port": server.udp_port, "node_ip": host}
    server.configure(rtc={**media, "use_external_ip": False, "ips": {"includes": [f"{host}/32"]}})
    with server, start_facade(rooms=settings_for(server), host="0.0.0.0") as facade:
        yield Reached(facade, server)


@pytest.fixture
def page_script(tmp_path: Path) -> Iterator[str]:
    """The address of the page's script, from another origin than the page."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "renderer.js").write_text(f"{client_script()}\n{script('browser', 'renderer.js').read_text()}")
    with served(folder) as address:
        yield f"{address}/renderer.js"


def wanted(watched: WatchedPage, show: Show, token: SecretStr, page_script: str, *, source: bool) -> Program:
    """As the operator would make it."""
    camera = ProgramSource(
        id=SOURCE,
        gateway=f"http://127.0.0.1:{PORT}",
        stream=STREAM,
        token=SecretStr(reader_token(SECRET, STREAM)),
    )
    port = urlsplit(show.user.facade.url).port
    return programme(
        f"http://127.0.0.1:{PORT}/pages/scripted.html?{urlencode({'script': page_script})}",
        watched.server,
        "program",
        epoch=1,
        project=show.id,
        collection=show.collection,
        studio=ProgramStudio(redirected_hosts=REDIRECTED_HOSTS),
        sources=[camera] if source else [],
        page_token=token,
        facade_url=f"http://{host_address()}:{port}",
    )


def clocks(watched: WatchedPage) -> list[int]:
    """The clip's own clock on the frames of two seconds of the programme, milliseconds."""
    frames = gray_frames(watched.server.read_url("program"), 2, WIDTH, HEIGHT)
    return [painted.wall_ms for frame in frames if (painted := read_frame(frame))]


def loads(watched: WatchedPage) -> int:
    return watched.pair.logs("browser").count("page.loaded")


def moves(seen: list[int]) -> bool:
    """Whether the clip's pictures were on air for most of two seconds, on a machine that may be busy."""
    return len({*seen}) > 10 and seen[-1] - seen[0] > 1000


def check_project(project: JsonObject, layout_id: str, source: JsonObject, destination: JsonObject) -> None:
    """What the page reads of its project, where it looks for it."""
    assert project["metadata"] == {"layoutId": layout_id, "type": "sceneless", "props": {}}
    assert project["composition"]["studioSdk"]["version"] == "3"
    video = project["rendering"]["video"]
    assert (video["width"], video["height"]) == (WIDTH, HEIGHT)
    assert project["encoding"]["video"]["codec"] == "VIDEO_CODEC_H264"
    [sent] = project["destinations"]
    assert (sent["destinationId"], sent["enabled"]) == (destination["destinationId"], False)
    assert sent["address"]["rtmpPush"]["url"] == "rtmp://media.example/live"
    assert sent["metadata"] == {"props": {"name": "Channel"}}
    [shown] = project["sources"]
    assert shown["sourceId"] == source["sourceId"]
    assert shown["address"]["rtmpPush"]["baseUrl"] == source["address"]["rtmpPush"]["baseUrl"]
    assert shown["preview"]["webrtc"]["participantId"] == source["sourceId"]
    assert shown["preview"]["webrtc"]["displayName"] == "Camera"
    assert shown["metadata"] == {"props": {"n": 1}}


def test_a_page_of_the_studio_calls_here_and_shows_a_source_by_its_camera(
    tmp_path: Path,
    resources: StoredResources,
    reached: Reached,
    sign_in: Callable[..., User],
    page_script: str,
) -> None:
    rendering = {"video": {"width": WIDTH, "height": HEIGHT}}
    composition = {"studioSdk": {"version": "3"}}
    show = sign_in(facade=reached.facade).project(composition=composition, rendering=rendering, **HOSTED)
    layout = show.user.ok(
        "POST", "/layout/v2/layouts", {"collectionId": show.collection, "projectId": show.id}
    )
    layers = f"/layout/v2/layouts/{layout['id']}/layers"
    root = show.user.ok("POST", layers, {"type": "root", "data": {"size": {"x": WIDTH, "y": HEIGHT}}})
    show.patch(metadata={"layoutId": layout["id"], "type": "sceneless", "props": {}})
    preview = {"webrtc": {"enabled": True, "displayName": "Camera"}}
    described = {"address": {"rtmpPush": {}}, "preview": preview, "metadata": {"props": {"n": 1}}}
    source = show.user.ok("POST", f"/collection/{show.collection}/source", described)["source"]
    show.user.ok("PUT", f"{show.path}/source/{source['sourceId']}", {})
    address = {"rtmpPush": {"url": "rtmp://media.example/live", "key": "k"}}
    body = {"address": address, "enabled": False, "metadata": {"props": {"name": "Channel"}}}
    destination = show.user.ok("POST", f"{show.path}/destination", body)["destination"]
    room_token, anna = join(show)
    resources.set_broadcast(show.id, {"id": "run", "epoch": 1, "phase": "Running"})
    token = SecretStr(signed_page_token(resources, show))
    clip = make_clip(tmp_path / "clip.mkv", 40.0, ClipEncoding(width=WIDTH, height=HEIGHT, bitrate_kbps=800))

    folder = tmp_path / "pod"
    folder.mkdir()
    signal = signal_url(reached.facade)
    with WatchedPage(folder) as watched, plain_camera(signal, room_token, GUEST_COLOUR):

        def report() -> JsonObject:
            said: JsonObject = watched.http.get("/report").json() or {}
            assert not said.get("failed"), said
            return said

        def until(what: str, check: Callable[[JsonObject], Any]) -> JsonObject:
            wait_for(lambda: check(report()), what, 40)
            return report()

        watched.push(clip)
        watched.pair.allow(urlsplit(page_script).netloc)
        watched.pair.allow_rooms(reached.rooms.udp_port, reached.rooms.tcp_port)
        watched.pair.put(wanted(watched, show, token, page_script, source=True)).raise_for_status()
        watched.pair.wait_phase("running", 40)
        loaded = loads(watched)
        said = until("all calls are made", lambda said: said.get("steps") == STEPS and said["shown"])
        assert said["refreshed"]["role"] == "ROLE_RENDERER"
        assert said["project"]["projectId"] == show.id
        check_project(said["project"], layout["id"], source, destination)
        assert [each["id"] for each in said["layers"]] == [root["id"]]
        assert said["status"]["phase"] == "PROJECT_BROADCAST_PHASE_RUNNING"
        assert said["shown"] == [SOURCE]
        assert said["room"] == room_of(room_token)
        said = until("a guest is seen", lambda said: said["participants"])
        ((identity, colour),) = said["participants"].items()
        assert identity == anna
        assert max(abs(one - other) for one, other in zip(colour, GUEST_COLOUR, strict=True)) <= NEAR

        watched.pair.wait_connected("program")
        wait_for(lambda: moves(clocks(watched)), "it moves", 30)
        seen = clocks(watched)
        assert seen == sorted(seen)
        assert loudness(watched.server.read_url("program"), 1) > 0.1

        show.user.ok("PATCH", f"{layers}/{root['id']}", {"data": {"size": {"x": 1, "y": 1}}})
        [event] = until("an event", lambda said: said["events"])["events"]
        assert event["subType"] == "EVENT_SUB_TYPE_UPDATE"
        assert event["payload"]["update"]["requestMetadata"] == {}

        watched.pair.put(wanted(watched, show, token, page_script, source=False)).raise_for_status()
        until("the tracks have ended", lambda said: sorted(said["ended"]) == ["audio", "video"])
        watched.pair.put(wanted(watched, show, token, page_script, source=True)).raise_for_status()
        until("the source is back", lambda said: said["shown"] == [SOURCE, SOURCE])
        wait_for(lambda: moves(clocks(watched)), "it moves", 30)
        assert loads(watched) == loaded, "the page is not loaded again"

        watched.pair.kill("browser", "/chromium")
        wait_for(lambda: loads(watched) > loaded, "the browser is back", 40)
        until("the page is back", lambda said: said["steps"] == STEPS and said["shown"] == [SOURCE])
        wait_for(lambda: watched.pair.status().on_slate is False, "the page is on air")
        wait_for(lambda: moves(clocks(watched)), "it moves", 30)
