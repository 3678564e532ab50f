"""A gateway with a MediaMTX that is not its own: started outside of the chart, as the reference says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from tests.support.child_process import ChildProcess
from tests.support.delivery.server_program import server_program
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.scripted_facade import ScriptedFacade

from onair_crds.contract.ingest_gateway import Pull, Pulls, gateway_token, stream_of_pull

pytestmark = pytest.mark.media

REFERENCE = Path(__file__).parents[3] / "docs/reference/ingest.md"
SECRET = b"the installation's own secret"
PASSWORD = "ApasswordOfTheServer1"
KEY = "camera-key-0123456789"


class ExistingServer(IngestPod):
    """The server by the configuration in the reference, and the gateway as the chart configures it then."""

    def start_server(self) -> None:
        blocks = re.findall(r"(?:^    .*\n)+", REFERENCE.read_text(), re.MULTILINE)
        (documented,) = (each for each in blocks if "authHTTPAddress" in each)
        config = yaml.safe_load(documented)
        config |= {
            "authHTTPAddress": f"http://127.0.0.1:{self.hook_port}/publish?token={PASSWORD}",
            "apiAddress": f":{self.api_port}",
            "rtmpAddress": f":{self.rtmp_port}",
            "srtAddress": f":{self.srt_port}",
        }
        path = self.folder / "mediamtx.yml"
        path.write_text(yaml.safe_dump(config))
        self.server = ChildProcess([server_program("mediamtx"), path], self.folder / "server.log")


@pytest.fixture(scope="module")
def scripted_facade() -> Iterator[ScriptedFacade]:
    with ScriptedFacade(SECRET) as scripted_facade:
        scripted_facade.keys.add(KEY)
        yield scripted_facade


@pytest.fixture(scope="module")
def pod(
    tmp_path_factory: pytest.TempPathFactory, scripted_facade: ScriptedFacade
) -> Iterator[ExistingServer]:
    folder = tmp_path_factory.mktemp("existing")
    (folder / "password").write_text(f"{PASSWORD}\n")
    settings = {
        "ONAIR_MEDIAMTX__PASSWORD_FILE": str(folder / "password"),
        "ONAIR_PULLS__ENABLED": "false",
    }
    with ExistingServer(folder, scripted_facade.url, SECRET, settings=settings) as pod:
        yield pod


@pytest.fixture
def follower(pod: ExistingServer) -> Iterator[Follower]:
    with pod.follow() as follower:
        yield follower


def test_what_is_pushed_to_it_is_told_and_its_publisher_disconnected(
    pod: ExistingServer, follower: Follower
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{KEY}") as encoder:
        state = follower.flowing(KEY).state
        assert state.video
        assert state.video.codec == "H264"
        measured = follower.wait(KEY, lambda each: bool(each.video and each.video.framerate), "measured")
        assert measured.state.video
        assert follower.disconnect(KEY).status_code == 204
        assert encoder.ends() != 0


def test_a_wrong_key_is_refused(pod: ExistingServer) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/nobodys") as encoder:
        assert encoder.ends() != 0


def test_its_api_and_the_hook_are_closed_to_others(pod: ExistingServer) -> None:
    paths = f"http://127.0.0.1:{pod.api_port}/v3/paths/list"
    assert httpx.get(paths).status_code == 401
    assert httpx.get(paths, auth=("onair", "guessed")).status_code == 401
    assert httpx.get(paths, auth=("onair", PASSWORD)).status_code == 200
    hook = f"http://127.0.0.1:{pod.hook_port}/publish"
    question = {"action": "publish", "protocol": "rtmp", "path": f"live/{KEY}", "id": "x"}
    for address in (hook, f"{hook}?token=guessed"):
        assert httpx.post(address, json=question).status_code == 401


def test_it_pulls_nothing_and_says_so(pod: ExistingServer, follower: Follower) -> None:
    stream = stream_of_pull("source-a")
    body = Pulls(pulls={stream: Pull(url="rtmp://media.example/live/a")}).wire()
    headers = {"Authorization": f"Bearer {gateway_token(SECRET, 'operator')}"}
    put = httpx.put(f"http://127.0.0.1:{pod.port}/v1/pulls", content=body, headers=headers)
    assert put.status_code == 204
    lines = []
    with httpx.stream("GET", f"http://127.0.0.1:{pod.port}/v1/streams", headers=headers) as response:
        for line in response.iter_lines():
            lines.append(line)
            if "heartbeat" in line:
                break
    (told,) = (line for line in lines if stream in line)
    assert "an existing ingest server pulls nothing" in told
