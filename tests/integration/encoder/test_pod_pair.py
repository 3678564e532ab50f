"""The two containers together: who may steer them, and what becomes of a programme."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.media import probe
from tests.support.media.painted import read_frame
from tests.support.pod_pair import POD, PodPair, Rtmp, docker

from onair_crds.contract.pod import METRICS_PORT, SNAPSHOT_KEY
from onair_crds.contract.program import EncoderStatus, Program, ProgramDestination, ProgramVideo

PAGES = Path(__file__).parents[3] / "images/demo"


def newest(name: str) -> str:
    """The image that `make images` built last."""
    found = docker("image", "ls", f"onair/{name}", "--format", "{{.Repository}}:{{.Tag}}").split()
    if not found:
        pytest.fail(f"onair/{name} is not built: run `make images`", pytrace=False)
    return found[0]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Pages for containers; gives their address."""
    gateway = docker("network", "inspect", "bridge", "-f", "{{(index .IPAM.Config 0).Gateway}}")
    server = http.server.ThreadingHTTPServer((gateway, 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{gateway}:{server.server_port}"
    finally:
        server.shutdown()


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    """The test page."""
    with served(PAGES) as address:
        yield f"{address}/probe.html"


@pytest.fixture(scope="module")
def far_end() -> Iterator[Rtmp]:
    with Rtmp(newest("mediamtx")) as server:
        yield server


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodPair]:
    folder = tmp_path_factory.mktemp("pod")
    for parent in (folder, folder.parent):
        parent.chmod(0o755)
    with PodPair(newest("encoder"), folder, epoch=2) as pair:
        pair.wait_agent()
        yield pair


def programme(page: str, far_end: Rtmp, *keys: str, **extra: object) -> Program:
    return Program(
        **{
            "project": "show",
            "broadcast": "run",
            "epoch": 2,
            "composition_url": page,
            "video": ProgramVideo(
                width=640, height=360, framerate=30, bitrate_bps=600_000, keyframe_interval_frames=30
            ),
            "destinations": [
                ProgramDestination(id=key, type="RTMP", url=far_end.url, key=key, timeout_ms=1000)
                for key in keys
            ],
            **extra,
        }
    )


def test_only_the_operator_may_steer(pair: PodPair) -> None:
    def status(**headers: str) -> int:
        return pair.http.get("/v1/status", headers=headers).status_code

    assert status() == 401
    assert status(Authorization="Bearer nonsense") == 401
    assert status(**pair.token("another-pod")) == 401
    assert status(**pair.token(age_s=3600)) == 401
    assert status(**pair.token(scope="snapshot")) == 403
    assert status(**pair.token(), Host="localhost:8443") == 421
    assert status(**pair.token(), Host="evil.example") == 421
    assert status(**pair.token(), Host=f"{POD}:8443") == 200
    # The facade's key opens one door
    key = {"Authorization": f"Bearer {(pair.folder / 'identity' / SNAPSHOT_KEY).read_text()}"}
    assert status(**key) == 401
    assert pair.http.put("/v1/program", content=b"{}", headers=key).status_code == 401
    assert pair.http.get("/v1/snapshot").status_code == 401
    answer = pair.http.get("/v1/snapshot", headers=key)
    assert (answer.status_code, answer.json()) == (503, {"message": "nothing was encoded yet"})


def test_a_bad_programme_is_refused_by_field_and_without_its_secrets(pair: PodPair) -> None:
    answer = pair.http.put("/v1/program", content=b'{"project": {"key": "s3cret"}}', headers=pair.token())
    assert answer.status_code == 400
    assert "project" in {v["field"] for v in answer.json()["violations"]}
    assert "s3cret" not in answer.text


def test_a_show_from_its_first_frame_to_its_end(pair: PodPair, page: str, far_end: Rtmp) -> None:
    assert pair.put(programme(page, far_end, "one", epoch=1)).status_code == 409
    assert pair.put(programme(page, far_end, "one")).status_code == 200
    status = pair.wait_phase("running")
    assert status.first_frame
    assert_snapshots(pair)
    assert_metrics(pair)
    stale = programme(page, far_end, "one").model_copy(update={"revision": 0})
    assert pair.http.put("/v1/program", content=stale.wire(), headers=pair.token()).status_code == 409

    nowhere = ProgramDestination(id="gone", type="RTMP", url="rtmp://127.0.0.1:9/live", key="s3cret")
    both = programme(page, far_end, "one", "two")
    both = both.model_copy(update={"destinations": [*both.destinations, nowhere]})
    first = far_end.path("one")["source"]["id"]
    pair.put(both)
    states = wait_states(pair, {"one": "Connected", "two": "Connected", "gone": "Disconnected"})
    assert states["gone"].last_error == "connection refused by 127.0.0.1:9"
    assert far_end.path("one")["source"]["id"] == first
    pair.put(programme(page, far_end, "one"))
    wait_for(lambda: not far_end.path("two"))
    assert far_end.path("one")["source"]["id"] == first

    pair.put(programme(page, far_end, "one", stop=True))
    pair.wait_phase("finished")
    wait_for(lambda: not far_end.path("one"))
    logs = pair.logs("encoder") + pair.logs("browser")
    assert "s3cret" not in logs


def metrics(pair: PodPair) -> dict[str, float]:
    """Every sample by its name, with its labels where it has some."""
    text = httpx.get(f"http://{pair.address}:{METRICS_PORT}/metrics").raise_for_status().text
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def assert_metrics(pair: PodPair) -> None:
    """Counters grow, also over a restart of ffmpeg; the delay is that of a live encode."""
    first = metrics(pair)
    pair.kill("encoder", "x11grab")
    wait_for(lambda: metrics(pair)["onair_encoder_streams_total"] == 2)
    wait_for(lambda: metrics(pair)["onair_encoder_speed"] > 0.5)
    after = metrics(pair)
    for name in ("frames", "dropped_frames", "duplicated_frames", "program_bytes"):
        assert after[f"onair_encoder_{name}_total"] >= first[f"onair_encoder_{name}_total"]
    assert after["onair_encoder_frames_total"] > first["onair_encoder_frames_total"] > 10
    assert after["onair_encoder_bitrate_bps"] == pytest.approx(730_000, rel=0.3)
    count = after["onair_encoder_glass_to_packet_seconds_count"]
    assert count > 30
    assert 0.001 < after["onair_encoder_glass_to_packet_seconds_sum"] / count < 0.3
    labels = '{destination="one",kind="RTMP"}'
    assert after[f"onair_destination_connected{labels}"] == 1
    assert after[f"onair_destination_sessions_total{labels}"] == 1
    assert after[f"onair_destination_sent_bytes_total{labels}"] > 50_000
    assert after[f"onair_destination_dropped_packets_total{labels}"] == 0


def snapshot(pair: PodPair) -> tuple[bytes, NDArray[np.uint8]]:
    """A JPEG, and its gray pixels in a row."""
    key = {"Authorization": f"Bearer {(pair.folder / 'identity' / SNAPSHOT_KEY).read_text()}"}
    answer = pair.http.get("/v1/snapshot", headers=key).raise_for_status()
    assert answer.headers["Content-Type"] == "image/jpeg"
    command = ["ffmpeg", "-v", "error", "-i", "-", "-pix_fmt", "gray", "-f", "rawvideo", "-"]
    raw = subprocess.run(command, input=answer.content, check=True, capture_output=True).stdout
    return answer.content, np.frombuffer(raw, np.uint8)


def assert_snapshots(pair: PodPair) -> None:
    """Pictures of the page at the programme's size, each key frame decoded once whoever asks."""

    def picture(_: int = 0) -> tuple[bytes, int]:
        content, pixels = snapshot(pair)
        painted = read_frame(pixels.reshape(360, 640))
        assert painted, "the page is in the picture"
        return content, painted.wall_ms

    _, first = picture()
    assert abs(time.time() * 1000 - first) < 3000
    with ThreadPoolExecutor(8) as threads:
        pictures = {content for content, _ in threads.map(picture, range(16))}
    assert len(pictures) <= 3
    wait_for(lambda: picture()[1] > first)


def wait_states(pair: PodPair, wanted: dict[str, str]) -> dict[str, object]:
    found: dict[str, object] = {}

    def reached() -> bool:
        found.update({d.id: d for d in pair.status().destinations})
        states = {d.id: (d.connect, bool(d.last_error)) for d in pair.status().destinations}
        return all(states.get(k) == (v, v == "Disconnected") for k, v in wanted.items())

    wait_for(reached)
    return found


def wait_for(check: object, timeout_s: float = 10.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not check():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_programme_ends_by_itself_at_its_time(tmp_path: Path, page: str, far_end: Rtmp) -> None:
    for parent in (tmp_path, tmp_path.parent):
        parent.chmod(0o755)
    with PodPair(newest("encoder"), tmp_path, epoch=2) as pair:
        pair.wait_agent()
        pair.put(programme(page, far_end, "timed"))
        pair.wait_phase("running")
        pair.put(programme(page, far_end, "timed", stop_at="2020-01-01T00:00:00Z"))
        status = pair.wait_phase("finished")
        assert status.error == "DurationExceeded"


def gray_frames(url: str, seconds: float, width: int = 64, height: int = 36) -> NDArray[np.uint8]:
    """What arrives, decoded and made small."""
    command = [
        *("ffmpeg", "-hide_banner", "-loglevel", "error", "-rtsp_transport", "tcp", "-i", url),
        *(
            "-t",
            str(seconds),
            "-an",
            "-vf",
            f"scale={width}:{height}",
            "-pix_fmt",
            "gray",
            "-f",
            "rawvideo",
            "-",
        ),
    ]
    output = subprocess.run(command, check=True, capture_output=True, timeout=60).stdout
    return np.frombuffer(output, np.uint8).reshape(-1, height, width)


def loudness(url: str, seconds: float) -> float:
    command = [
        *("ffmpeg", "-hide_banner", "-loglevel", "error", "-rtsp_transport", "tcp", "-i", url),
        *("-t", str(seconds), "-vn", "-ac", "1", "-f", "f32le", "-"),
    ]
    output = subprocess.run(command, check=True, capture_output=True, timeout=60).stdout
    return float(np.abs(np.frombuffer(output, np.float32)).max())


def is_slate(frames: NDArray[np.uint8]) -> bool:
    """Two bright bars in the middle of a dark ground."""
    height, width = frames.shape[1:]
    middle = frames[:, height // 2]
    dark = frames[:, : height // 4].max() < 60 and middle[:, width // 2].max() < 60
    return bool(dark and (middle.max(axis=1) > 100).all())


def test_an_unreachable_page_is_named_and_covered_by_a_slate(
    tmp_path: Path, page: str, far_end: Rtmp
) -> None:
    for parent in (tmp_path, tmp_path.parent):
        parent.chmod(0o755)
    with PodPair(newest("encoder"), tmp_path, epoch=2) as pair:
        pair.wait_agent()
        pair.put(programme("http://127.0.0.1:18081/", far_end, "dark"))
        wait_for(lambda: (pair.status().composition_error or "") == "127.0.0.1:18081: connection refused")
        assert pair.status().phase == "starting"
        wait_for(lambda: "slate.begins" in pair.logs("encoder"))
        frames = gray_frames(far_end.read_url("dark"), 2)
        assert len(frames) > 40
        assert is_slate(frames[-20:])
        assert loudness(far_end.read_url("dark"), 1) < 0.001
        connection = far_end.path("dark")["source"]["id"]

        pair.put(programme(page, far_end, "dark"))
        assert pair.wait_phase("running").composition_error is None
        wait_for(lambda: "slate.ends" in pair.logs("encoder"))
        assert not is_slate(gray_frames(far_end.read_url("dark"), 1)[-5:])

        # Without the X server there is nothing to film for a while
        for _ in range(3):
            pair.kill("browser", "Xvfb")
            time.sleep(0.5)
        wait_for(lambda: pair.logs("encoder").count("slate.ends") == 2, 30)
        assert not is_slate(gray_frames(far_end.read_url("dark"), 1)[-5:])
        assert far_end.path("dark")["source"]["id"] == connection, "the destination stayed connected"
        with pytest.raises(httpx.RemoteProtocolError):
            follow_until_gone(pair)


@pytest.mark.parametrize("server", ["pulseaudio", "Xvfb"])
def test_what_follows_a_display_or_a_sound_server_is_on_air(
    tmp_path: Path, page: str, far_end: Rtmp, server: str
) -> None:
    """ffmpeg by itself would go on with the last picture, or without sound."""
    for parent in (tmp_path, tmp_path.parent):
        parent.chmod(0o755)
    with PodPair(newest("encoder"), tmp_path, epoch=2) as pair:
        pair.wait_agent()
        pair.put(programme(page, far_end, f"after-{server}"))
        pair.wait_phase("running")
        wait_for(lambda: far_end.path(f"after-{server}")["ready"])
        connection = far_end.path(f"after-{server}")["source"]["id"]
        pair.kill("browser", server)
        wait_for(lambda: "inputs.replaced" in pair.logs("encoder"), 20)

        def alive() -> bool:
            recording = probe.record(far_end.read_url(f"after-{server}"), 3, tmp_path)
            report = probe.analyse(recording)
            return report.missing_percent < 30 and abs(report.tone_hz - 1000) < 2

        wait_for(alive, 30)
        assert far_end.path(f"after-{server}")["source"]["id"] == connection


def video_of(url: str) -> dict[str, object]:
    command = [
        *("ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-select_streams", "v", "-of", "json"),
        *("-show_entries", "stream=width,height,profile:packet=pts_time,flags,size"),
        *("-read_intervals", "%+3", url),
    ]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)
    packets = [p for p in found["packets"] if "pts_time" in p]
    keys = [i for i, p in enumerate(packets) if "K" in p["flags"]]
    times = [float(p["pts_time"]) for p in packets]
    return {
        **found["streams"][0],
        "rate": (len(times) - 1) / (times[-1] - times[0]),
        "bps": sum(int(p["size"]) for p in packets) * 8 / (times[-1] - times[0]),
        "gop": keys[1] - keys[0],
    }


def test_video_is_changed_while_live(tmp_path: Path, page: str, far_end: Rtmp) -> None:
    for parent in (tmp_path, tmp_path.parent):
        parent.chmod(0o755)
    url = far_end.read_url("changing")
    with PodPair(newest("encoder"), tmp_path, epoch=2) as pair:
        pair.wait_agent()
        before = programme(page, far_end, "changing")
        pair.put(before)
        pair.wait_phase("running")
        wait_states(pair, {"changing": "Connected"})
        connection = far_end.path("changing")["source"]["id"]

        # What decoders do not mind needs no new connection
        changes = {"bitrate_bps": 1_200_000, "keyframe_interval_frames": 15, "framerate": 20}
        smaller = before.model_copy(update={"video": before.video.model_copy(update=changes)})
        pair.put(smaller)
        wait_for(lambda: "child.started" in pair.logs("encoder").rpartition("program.taken")[2])
        time.sleep(1)
        found = video_of(url)
        assert (found["width"], found["height"], found["gop"]) == (640, 360, 15)
        assert found["rate"] == pytest.approx(20, abs=0.5)
        assert found["bps"] == pytest.approx(1_200_000, rel=0.15)
        assert far_end.path("changing")["source"]["id"] == connection

        # Another size does, at once and without a word of disconnection
        changes = {"width": 480, "height": 270, "profile": "main"}
        pair.put(smaller.model_copy(update={"video": smaller.video.model_copy(update=changes)}))
        wait_for(lambda: (far_end.path("changing").get("source") or {}).get("id") not in (None, connection))
        wait_for(lambda: far_end.received("changing") > 0)
        found = video_of(url)
        assert (found["width"], found["height"], found["profile"]) == (480, 270, "Main")
        assert pair.status().destinations[0].connect == "Connected"
        assert '"connect": "Disconnected"' not in pair.logs("encoder")


FRAME = """<!doctype html><body style="margin: 0; background: #000">
<div style="position: fixed; inset: 0; box-sizing: border-box; border: 8px solid #fff"></div>"""


def frame_fills(pair: PodPair, width: int, height: int) -> bool:
    """Whether the picture has this size and the page's frame is at its edges and nowhere else."""
    try:
        _, pixels = snapshot(pair)
    except httpx.HTTPStatusError as error:
        if error.response.status_code != 503:  # there is none yet of the new size
            raise
        return False
    if pixels.size != width * height:
        return False
    picture = pixels.reshape(height, width)
    edges = (picture[:6], picture[-6:], picture[:, :6], picture[:, -6:])
    return all(edge.min() > 180 for edge in edges) and bool(picture[12:-12, 12:-12].max() < 60)


def test_the_page_has_the_size_of_the_programme(tmp_path: Path, far_end: Rtmp) -> None:
    """Also where that is smaller than the browser makes its windows, and when it changes while live."""
    for parent in (tmp_path, tmp_path.parent):
        parent.chmod(0o755)
    (tmp_path / "frame.html").write_text(FRAME)
    with served(tmp_path) as address, PodPair(newest("encoder"), tmp_path, epoch=2) as pair:
        pair.wait_agent()
        show = programme(f"{address}/frame.html", far_end)
        pair.put(show)
        pair.wait_phase("running")
        # The very first picture may be the browser's own white, from before the page's first paint.
        for width, height in ((640, 360), (320, 180), (1280, 720), (480, 270), (640, 360)):
            changed = show.video.model_copy(update={"width": width, "height": height})
            pair.put(show.model_copy(update={"video": changed}))
            wait_for(lambda size=(width, height): frame_fills(pair, *size))


def follow_until_gone(pair: PodPair) -> None:
    """Reads the status stream until the container is killed; every line is a status."""
    with pair.http.stream("GET", "/v1/status", params={"follow": "1"}, headers=pair.token()) as stream:
        for number, line in enumerate(stream.iter_lines()):
            EncoderStatus.model_validate_json(line)
            if number == 1:
                subprocess.run(["docker", "kill", f"{pair.name}-encoder"], check=True, capture_output=True)
