"""The built-in MediaMTX as the chart configures it: nobody publishes, reads or lists without a password."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from tests.support.certificate_authority import HOST
from tests.support.child_process import ChildProcess
from tests.support.control_plane import free_port
from tests.support.delivery.server_program import server_program
from tests.support.helm import named, render
from tests.support.processes import sockets
from tests.support.waiting import wait_for

from onair_operator.cluster.server_secrets import MEDIAMTX_SECRET

pytestmark = pytest.mark.media

PASSWORDS = {"apiHash": "of-the-api", "publishHash": "of-publishers", "readHash": "of-readers"}
API, PUBLISHER, READER = ("api", "of-the-api"), ("publisher", "of-publishers"), ("reader", "of-readers")
NOBODY = ("", "")
ALL = [NOBODY, API, PUBLISHER, READER, ("publisher", "none")]
LISTEN, LOOPBACK = "0A", {"0100007F", "00000000000000000000000001000000"}
"""As /proc/net has them."""
PICTURE = ("-re", "-f", "lavfi", "-i", "testsrc2=size=128x72:rate=10", "-c:v", "libx264", "-g", "10")


class ChartMediaMtx:
    """MediaMTX with the chart's configuration and environment, on free ports."""

    def __init__(self, folder: Path) -> None:
        objects = render()
        config = folder / "mediamtx.yml"
        config.write_text(named(objects, "ConfigMap", "onair-mediamtx")["data"]["mediamtx.yml"])
        pod = named(objects, "Deployment", "onair-mediamtx")["spec"]["template"]["spec"]
        variables = {}
        for each in pod["containers"][0]["env"]:
            reference = each["valueFrom"]["secretKeyRef"]
            assert reference["name"] == MEDIAMTX_SECRET
            digest = hashlib.sha256(PASSWORDS[reference["key"]].encode()).digest()
            variables[each["name"]] = f"sha256:{base64.b64encode(digest).decode()}"
        ports = {name: free_port() for name in ("rtmp", "rtsp", "hls", "api")}
        variables |= {f"MTX_{name.upper()}ADDRESS": f"{HOST}:{port}" for name, port in ports.items()}
        self.ports, self._folder = ports, folder
        command = [server_program("mediamtx"), config]
        self.process = ChildProcess(command, folder / "mediamtx.log", variables)
        wait_for(lambda: self.api(API) == 200, "MediaMTX responds", 60)

    def api(self, user: tuple[str, str], path: str = "paths/list") -> int:
        try:
            url = f"http://{HOST}:{self.ports['api']}/v3/{path}"
            return httpx.get(url, auth=user if any(user) else None, timeout=5).status_code
        except httpx.HTTPError:
            self.process.check()
            return 0

    def rtmp(self, user: tuple[str, str], path: str = "secret-path") -> str:
        query = f"?{urlencode({'user': user[0], 'pass': user[1]})}" if any(user) else ""
        return f"rtmp://{HOST}:{self.ports['rtmp']}/live/{path}{query}"

    def publishes(self, user: tuple[str, str], path: str) -> bool:
        """Publishes until the server has the stream, or has closed the connection."""
        with publisher(self.rtmp(user, path)) as process:
            wait_for(lambda: self.has(path) or process.poll() is not None, "a stream, or a refusal", 60)
            return self.has(path)

    def has(self, path: str) -> bool:
        return self.api(API, f"paths/get/live/{path}") == 200

    def reads(self, url: str) -> bool:
        command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-i", url, "-t", "0.2", "-f", "null", "-"]
        return subprocess.run(command, check=False, capture_output=True, timeout=30).returncode == 0

    def log(self) -> str:
        return (self._folder / "mediamtx.log").read_text()


@contextmanager
def publisher(url: str) -> Iterator[subprocess.Popen[bytes]]:
    command = ["ffmpeg", "-nostdin", "-loglevel", "quiet", *PICTURE, "-f", "flv", url]
    with subprocess.Popen(command) as process:
        yield process
        process.terminate()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChartMediaMtx]:
    server = ChartMediaMtx(tmp_path_factory.mktemp("mediamtx"))
    yield server
    server.process.stop()


@pytest.fixture(scope="module")
def stream(server: ChartMediaMtx) -> Iterator[Callable[[], bool]]:
    """Something to read, at a path that nobody is told."""
    with publisher(server.rtmp(PUBLISHER)) as process:
        wait_for(lambda: server.has("secret-path"), "a stream", 60)
        yield lambda: process.poll() is None


def of_all(judged: Callable[[tuple[str, str]], object]) -> dict[tuple[str, str], object]:
    """What everybody gets, at once: the server lets whoever is refused wait for two seconds."""
    with ThreadPoolExecutor(len(ALL)) as pool:
        return dict(zip(ALL, pool.map(judged, ALL), strict=True))


def test_only_its_own_user_publishes(server: ChartMediaMtx) -> None:
    published = of_all(lambda user: server.publishes(user, f"from-{user[0]}-{user[1]}"))
    assert published == {user: user == PUBLISHER for user in ALL}


@pytest.mark.parametrize("path", ["paths/list", "rtmpconns/list", "config/global/get"])
def test_only_its_own_user_uses_the_api(server: ChartMediaMtx, path: str) -> None:
    assert of_all(lambda user: server.api(user, path)) == {user: 200 if user == API else 401 for user in ALL}


@pytest.mark.parametrize("protocol", ["rtmp", "rtsp"])
def test_only_its_own_user_reads(server: ChartMediaMtx, stream: Callable[[], bool], protocol: str) -> None:
    def reads(user: tuple[str, str]) -> bool:
        if protocol == "rtmp":
            return server.reads(server.rtmp(user))
        credentials = f"{user[0]}:{user[1]}@" if any(user) else ""
        return server.reads(f"rtsp://{credentials}{HOST}:{server.ports['rtsp']}/live/secret-path")

    assert of_all(reads) == {user: user == READER for user in ALL}
    assert stream(), "whoever else came, the publisher goes on"


def test_only_its_own_user_reads_by_hls(server: ChartMediaMtx, stream: Callable[[], bool]) -> None:
    url = f"http://{HOST}:{server.ports['hls']}/live/secret-path/index.m3u8"

    def reads(user: tuple[str, str]) -> tuple[int, bool]:
        response = httpx.get(url, auth=user if any(user) else None, timeout=15, follow_redirects=True)
        return response.status_code, "EXTM3U" in response.text

    assert of_all(reads) == {user: (200, True) if user == READER else (401, False) for user in ALL}
    assert stream()


def test_its_log_names_no_path_and_no_password(server: ChartMediaMtx, stream: Callable[[], bool]) -> None:
    assert stream()
    assert not server.reads(server.rtmp(("reader", "a-wrong-password")))
    for secret in ("secret-path", "a-wrong-password", *PASSWORDS.values()):
        assert secret not in server.log()


def test_its_api_is_in_no_service_and_closed_by_a_policy() -> None:
    objects = render("--set", "mediamtx.service.type=LoadBalancer")
    services = [each for each in objects if each["kind"] == "Service"]
    assert not [each for each in services for port in each["spec"]["ports"] if port["port"] in (9996, 9997)]
    policy = named(objects, "NetworkPolicy", "onair-mediamtx")["spec"]
    assert policy["policyTypes"] == ["Ingress"]
    (rule,) = policy["ingress"]
    assert sorted(each["port"] for each in rule["ports"]) == [1935, 8554, 8888]


def test_the_server_of_ingest_has_only_its_media_on_the_network(tmp_path: Path) -> None:
    """API, hook and all else that it may listen on are on the loopback of its pod."""
    config = tmp_path / "ingest.yml"
    config.write_text(named(render(), "ConfigMap", "onair-ingest")["data"]["mediamtx.yml"])
    ports = {name: free_port() for name in ("rtmp", "srt", "api")}
    variables = {"MTX_RTMPADDRESS": f":{ports['rtmp']}", "MTX_SRTADDRESS": f":{ports['srt']}"}
    variables["MTX_APIADDRESS"] = f"127.0.0.1:{ports['api']}"
    command, log = [server_program("mediamtx"), config], tmp_path / "mediamtx.log"
    server = ChildProcess(command, log, variables)
    try:
        wait_for(lambda: ports["rtmp"] in open_ports(server.process.pid), "it listens", 60)
        assert open_ports(server.process.pid) == {ports["rtmp"], ports["srt"]}
    finally:
        server.stop()


def open_ports(pid: int) -> set[int]:
    """Ports, of TCP and UDP, that a process has on other addresses than loopback."""
    own = sockets(pid)
    found = set()
    for protocol in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{protocol}").read_text().splitlines()[1:]:
            fields = line.split()
            address, _, port = fields[1].partition(":")
            listens = protocol.startswith("udp") or fields[3] == LISTEN
            if f"socket:[{fields[9]}]" in own and listens and address not in LOOPBACK:
                found.add(int(port, 16))
    return found
