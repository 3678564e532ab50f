"""HLS previews through the facade, from a real gateway: players decode what an encoder pushes."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.support.control_plane import ControlPlane
from tests.support.delivery.hls_player import playing
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.fixtures.facade import RecordedLogs
from tests.support.ingest.encoder import FfmpegEncoder, picture
from tests.support.ingest.gateway_client import ingest_secret
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.signing_keys import AddedSigningKey
from tests.support.tokens import assert_error
from tests.support.waiting import wait_for

from onair_api.cache.watched_kinds import SOURCE
from onair_api.settings import GatewaySettings, IngestSettings
from onair_crds.contract.ingest_gateway import stream_of_key
from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media
POD = "onair-ingest-0"


class Previewed:
    """A facade that knows a gateway, and sources of a user's. There is no operator: tests write statuses."""

    def __init__(
        self,
        pod: IngestPod,
        hook: ScriptedFacade,
        facade: FacadeThread,
        resources: StoredResources,
        user: User,
    ):
        self.pod, self.hook, self.facade, self.resources, self.user = pod, hook, facade, resources, user
        self.collection = user.collection()

    def source(self) -> tuple[JsonObject, str]:
        """A source, and the key by which it is pushed."""
        body: JsonObject = {"address": {"rtmpPush": {}}}
        source: JsonObject = self.user.ok("POST", f"/collection/{self.collection}/source", body)["source"]
        key = str(source["address"]["rtmpPush"]["key"])
        self.hook.keys.add(key)
        return source, key

    def path(self, source: JsonObject) -> str:
        return f"/collection/{self.collection}/source/{source['sourceId']}"

    def connected(self, source: JsonObject, key: str) -> None:
        """Says what the operator would, once media flows."""
        with self.pod.follow() as follower:
            follower.flowing(key)
        status = {"connect": "Connected", "gateway": POD, "stream": stream_of_key(key)}
        self.resources.patch("sources", source["sourceId"], {"status": status}, "status")

        def known() -> bool:
            return bool(
                self.user.ok("GET", self.path(source))["source"].get("connect") == "CONNECT_STATE_CONNECTED"
            )

        wait_for(known, "the facade knows that it is connected")

    def preview(self, source: JsonObject) -> JsonObject:
        return self.user.ok("GET", f"{self.path(source)}/preview/hls")

    def url(self, source: JsonObject) -> str:
        """Where it is played; the public address is another than a test's."""
        return self.facade.url + urlsplit(self.preview(source)["url"]).path

    def media(self, url: str) -> str:
        """The player's own playlist, of an address that is good for a few minutes."""
        line = self.get(url).raise_for_status().text.splitlines()[-1]
        return str(httpx.URL(url).join(line))

    def get(self, url: str) -> httpx.Response:
        return httpx.get(url, timeout=20)

    def segment(self, source: JsonObject) -> str:
        media = self.media(self.url(source))
        lines = self.get(media).raise_for_status().text.splitlines()
        return str(httpx.URL(media).join(next(line for line in lines if line.endswith(".ts"))))


@pytest.fixture(scope="module")
def previewed(
    tmp_path_factory: pytest.TempPathFactory,
    start_facade: StartFacade,
    resources: StoredResources,
    sign_in: Callable[..., User],
) -> Iterator[Previewed]:
    secret = ingest_secret(resources)
    with (
        ScriptedFacade(secret) as hook,
        IngestPod(tmp_path_factory.mktemp("ingest"), hook.url, secret, POD) as pod,
    ):
        gateways = [GatewaySettings(name=POD, url=f"http://127.0.0.1:{pod.port}")]
        with start_facade(ingest=IngestSettings(gateways=gateways)) as facade:
            yield Previewed(pod, hook, facade, resources, sign_in(facade=facade))


@pytest.mark.both_doors
def test_a_source_that_was_stored_under_other_rules_has_a_preview(
    previewed: Previewed, resources: StoredResources, control_plane: ControlPlane
) -> None:
    source, _ = previewed.source()
    preview = {"webrtc": {"displayName": 300 * "x"}}
    name = source["sourceId"]
    control_plane.store(
        f"onair.dev/sources/{resources.shows}/{name}", lambda stored: stored["spec"].update(preview=preview)
    )
    view = previewed.facade.services.cluster.view
    wait_for(lambda: (known := view.get(SOURCE, name)) and known.spec.get("preview"), "the facade knows it")
    assert previewed.preview(source)["enabled"]


def test_what_is_pushed_with_b_frames_is_played_from_the_address_alone(
    previewed: Previewed, recorded_logs: RecordedLogs
) -> None:
    source, key = previewed.source()
    with FfmpegEncoder(f"{previewed.pod.rtmp}/{key}", video=picture("640x360")):
        previewed.connected(source, key)
        url = previewed.url(source)
        command = [
            *("ffmpeg", "-nostdin", "-loglevel", "error", "-xerror", "-err_detect", "explode", "-i", url),
            *(
                "-fps_mode",
                "passthrough",
                "-enc_time_base",
                "-1",
                "-t",
                "6",
                "-progress",
                "pipe:1",
                "-f",
                "null",
                "-",
            ),
        ]
        run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")
    frames = [int(line[6:]) for line in run.stdout.splitlines() if line.startswith("frame=")]
    assert max(frames) >= 150
    token = url.split("/")[-2]
    logged = recorded_logs.getvalue()
    assert token not in logged
    assert key not in logged
    assert str(previewed.pod.port) not in previewed.get(url).text


async def test_a_browser_plays_it(previewed: Previewed) -> None:
    source, key = previewed.source()
    with FfmpegEncoder(f"{previewed.pod.rtmp}/{key}", video=picture("640x360")):
        previewed.connected(source, key)
        async with playing(previewed.url(source)) as watching:
            report = await watching.until("playing", lambda r: r["decoded"] > 60 and r["time"] > 2, 60)
            assert (report["width"], report["height"]) == (640, 360)
            assert report["audio"] > 0
            assert not [each for each in report["faults"] if each["fatal"]]


@pytest.mark.both_doors
def test_a_source_that_is_not_connected_disabled_or_gone_is_not_played(previewed: Previewed) -> None:
    source, key = previewed.source()
    url = previewed.url(source)
    media = previewed.media(url)
    assert_error(previewed.get(media), 404, 5)
    with FfmpegEncoder(f"{previewed.pod.rtmp}/{key}"):
        previewed.connected(source, key)
        assert previewed.get(media).is_success
        off = {"address": {"rtmpPush": {"enabled": False}}}
        previewed.user.ok("PATCH", previewed.path(source), off)
        assert previewed.preview(source) == {"enabled": False}
        assert_error(previewed.get(media), 404, 5)
    previewed.user.ok("DELETE", previewed.path(source))
    assert_error(previewed.get(url), 404, 5)


@pytest.mark.both_doors
def test_strangers_get_neither_the_address_nor_what_is_behind_another(
    previewed: Previewed, sign_in: Callable[..., User]
) -> None:
    source, _ = previewed.source()
    other = sign_in(facade=previewed.facade)
    assert_error(other.call("GET", f"{previewed.path(source)}/preview/hls"), 404, 5)
    *head, token, name = previewed.url(source).split("/")
    for changed in (token[:-1], f"x{token[1:]}", "made-up"):
        assert_error(previewed.get("/".join([*head, changed, name])), 401, 16)
    assert_error(previewed.get("/".join([*head, token, "media.m3u8"])), 401, 16)


@pytest.mark.both_doors
def test_players_end_with_the_token_or_a_key_of_whoever_asked(
    previewed: Previewed, sign_in: Callable[..., User], resources: StoredResources
) -> None:
    facade = previewed.facade

    def media(user: User, path: str) -> tuple[str, str]:
        """Where a user was told to play a source, and where a player of it has got to."""
        url = facade.url + urlsplit(user.ok("GET", f"{path}/preview/hls")["url"]).path
        return url, previewed.media(url)

    key = resources.add_api_key("a-player")
    login, other = sign_in("ann", facade=facade, key=key), sign_in("ann", facade=facade, key=key)
    collection = login.collection()
    made = login.ok("POST", f"/collection/{collection}/source", {"address": {"rtmpPush": {}}})["source"]
    path = f"/collection/{collection}/source/{made['sourceId']}"
    ended, goes_on = media(login, path), media(other, path)
    assert login.call("DELETE", "/authentication/token").is_success
    for each in ended:
        assert_error(previewed.get(each), 401, 16)
    assert previewed.get(goes_on[0]).is_success
    assert_error(previewed.get(goes_on[1]), 404, 5)

    with AddedSigningKey(resources, "signing-key-player", facade) as signing_key:
        signed_by_it = media(sign_in("ann", facade=facade, key=key), path)
        assert_error(previewed.get(signed_by_it[1]), 404, 5)
        signing_key.delete()
        wait_for(
            lambda: {previewed.get(each).status_code for each in signed_by_it} == {401},
            "they end with the signing key",
        )
    assert previewed.get(goes_on[0]).is_success

    resources.delete_api_key("a-player")
    wait_for(lambda: {previewed.get(each).status_code for each in goes_on} == {401}, "they end with the key")


def test_a_player_that_takes_nothing_holds_up_neither_others_nor_the_facade(previewed: Previewed) -> None:
    source, key = previewed.source()
    options = ("-b:v", "12M", "-minrate", "12M", "-maxrate", "12M", "-bufsize", "12M")
    with FfmpegEncoder(f"{previewed.pod.rtmp}/{key}", options=(*options, "-x264-params", "nal-hrd=cbr")):
        previewed.connected(source, key)
        url = previewed.segment(source)
        parts = urlsplit(url)
        slow = []
        for _ in range(8):
            player = socket.create_connection((str(parts.hostname), int(parts.port or 80)))
            player.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            player.sendall(f"GET {parts.path} HTTP/1.1\r\nHost: facade\r\n\r\n".encode())
            slow.append(player)
        began_s = time.monotonic()
        # So many of one player's are too many: another one has a token of its own
        other = previewed.segment(source)
        assert previewed.get(other).raise_for_status().content[:1] == b"\x47"
        assert previewed.facade.http.get("/readyz").is_success
        assert time.monotonic() - began_s < 3
        for player in slow:
            player.close()


def test_segments_are_not_compressed_once_more(previewed: Previewed) -> None:
    source, key = previewed.source()
    with FfmpegEncoder(f"{previewed.pod.rtmp}/{key}"):
        previewed.connected(source, key)
        response = httpx.get(previewed.segment(source), headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in response.headers
    assert response.headers["Content-Type"] == "video/mp2t"


@pytest.mark.both_doors
def test_an_installation_without_ingest_has_no_previews(
    facade: FacadeThread, sign_in: Callable[..., User]
) -> None:
    user = sign_in(facade=facade)
    collection = user.collection()
    source = user.ok("POST", f"/collection/{collection}/source", {"address": {"rtmpPush": {}}})["source"]
    path = f"/collection/{collection}/source/{source['sourceId']}/preview/hls"
    assert user.ok("GET", path) == {"enabled": False}


@pytest.mark.both_doors
def test_a_gateway_that_does_not_respond_is_told(previewed: Previewed, tmp_path: Path) -> None:
    source, key = previewed.source()
    status = {"connect": "Connected", "gateway": "onair-ingest-9", "stream": stream_of_key(key)}
    previewed.resources.patch("sources", source["sourceId"], {"status": status}, "status")
    assert_error(previewed.get(previewed.media(previewed.url(source))), 404, 5)
