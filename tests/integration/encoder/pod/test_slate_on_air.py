"""What goes out while the page, the display or the sound server is unavailable."""

from __future__ import annotations

import datetime as dt
import signal
import threading
import time
from pathlib import Path

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.media import probe
from tests.support.media.stream import gray_frames, is_slate, loudness
from tests.support.pages import site
from tests.support.pod_pair import PodPair, programme

pytestmark = pytest.mark.media


def test_an_unreachable_page_is_named_and_covered_by_a_slate(
    pair: PodPair, page: str, far_end: RtmpContainer
) -> None:
    pair.put(programme("http://127.0.0.1:18081/", far_end, "dark", page_timeout_ms=8000))
    pair.wait_for(
        lambda: (pair.status().composition_error or "") == "127.0.0.1:18081: connection refused", "named"
    )
    assert pair.status().phase == "starting"
    pair.wait_for(lambda: pair.status().on_slate, "on the slate")
    began = time.time()
    frames = gray_frames(far_end.read_url("dark"), 2)
    assert len(frames) > 40
    assert is_slate(frames[-20:])
    assert loudness(far_end.read_url("dark"), 1) < 0.001
    connection = far_end.wait_publisher("dark")
    on_air = pair.wait_phase("running")
    assert on_air.on_slate
    assert on_air.first_frame
    assert dt.datetime.fromisoformat(on_air.first_frame).timestamp() <= began + 0.2

    pair.put(programme(page, far_end, "dark"))
    pair.wait_for(lambda: not pair.status().on_slate, "off the slate")
    assert pair.status().composition_error is None
    assert not is_slate(gray_frames(far_end.read_url("dark"), 1)[-5:])

    begins, ends = pair.logged("slate.begins"), pair.logged("slate.ends")

    # Without the X server there is nothing to capture, until it and Chromium are back
    def without_display() -> bool:
        pair.kill("browser", "Xvfb")
        return pair.logged("slate.begins") > begins

    pair.wait_for(without_display, "on the slate again")
    pair.wait_for(lambda: pair.logged("slate.ends") > ends, "off the slate again", 30)
    assert not is_slate(gray_frames(far_end.read_url("dark"), 1)[-5:])
    assert far_end.publisher("dark") == connection, "the destination stayed connected"


def is_alive(far_end: RtmpContainer, key: str, folder: Path) -> bool:
    """Whether the page is delivered, with its tone."""
    recording = probe.record(far_end.read_url(key), 3, folder)
    report = probe.analyse(recording)
    return report.missing_percent < 30 and abs(report.tone_hz - 1000) < 2


@pytest.mark.parametrize("server", ["pulseaudio", "Xvfb"])
def test_the_replacement_of_a_display_or_a_sound_server_is_on_air(
    pair: PodPair, page: str, far_end: RtmpContainer, tmp_path: Path, server: str
) -> None:
    """ffmpeg by itself would continue with the last frame, or without audio."""
    key = f"after-{server}"
    pair.put(programme(page, far_end, key))
    pair.wait_phase("running")
    connection = far_end.wait_publisher(key)
    pair.kill("browser", server)
    pair.wait_for(lambda: pair.logged("inputs.replaced"), "noticed", 20)
    pair.wait_for(lambda: is_alive(far_end, key, tmp_path), "alive", 30)
    assert far_end.publisher(key) == connection


@pytest.mark.parametrize("server", ["pulseaudio", "Xvfb"])
def test_a_display_or_a_sound_server_that_hangs_is_replaced(
    pair: PodPair, page: str, far_end: RtmpContainer, tmp_path: Path, server: str
) -> None:
    """The kernel goes on accepting connections for it, and it does not end by itself."""
    key = f"beyond-{server}"
    pair.put(programme(page, far_end, key))
    pair.wait_phase("running")
    connection = far_end.wait_publisher(key)
    assert pair.kill("browser", server, signal.SIGSTOP)
    pair.wait_for(lambda: "server.hangs" in pair.logs("browser"), "noticed", 20)
    pair.wait_for(lambda: is_alive(far_end, key, tmp_path), "alive", 40)
    assert far_end.publisher(key) == connection
    assert pair.logs("browser").count("server.hangs") == 1


def test_an_ffmpeg_that_is_silent_is_covered_by_the_slate_and_replaced(
    pair: PodPair, page: str, far_end: RtmpContainer
) -> None:
    pair.put(programme(page, far_end, "silent"))
    pair.wait_phase("running")
    pair.wait_connected("silent")
    connection = far_end.wait_publisher("silent")
    pair.wait_for(lambda: pair.kill("encoder", "x11grab", signal.SIGSTOP), "stopped")
    pair.wait_for(lambda: pair.status().on_slate, "on the slate", 5)
    assert pair.status().phase == "running"
    pair.wait_for(lambda: not pair.status().on_slate, "off the slate", 15)
    assert pair.logged("encode.hangs") == 1
    assert far_end.publisher("silent") == connection


def test_a_browser_that_composes_no_frames_is_covered_by_the_slate_and_restarted(
    pair: PodPair, far_end: RtmpContainer
) -> None:
    """Its page goes on and answers, and the screen keeps the last frame."""
    given = threading.Event()
    given.set()
    files = {"/": ("text/html", b"<!doctype html><body style='background: #fff'>hello")}
    with site(files, before=lambda _: given.wait(60)) as address:
        pair.put(programme(f"{address}/", far_end, "frozen"))
        pair.wait_phase("running")
        pair.wait_connected("frozen")
        connection = far_end.wait_publisher("frozen")
        # Another browser may have the page on air within the second after which the slate is due
        given.clear()
        pair.wait_for(lambda: pair.kill("browser", "--type=gpu-process", signal.SIGSTOP), "stopped")
        pair.wait_for(lambda: pair.status().on_slate, "on the slate", 30)
        given.set()
        pair.wait_for(lambda: not pair.status().on_slate, "off the slate", 30)
    assert "the page has no frames" in pair.logs("browser")
    assert not is_slate(gray_frames(far_end.read_url("frozen"), 1)[-5:])
    assert far_end.publisher("frozen") == connection


def put_with_rare_key_frames(pair: PodPair, url: str, far_end: RtmpContainer) -> None:
    wanted = programme(url, far_end, "rare")
    video = wanted.video.model_copy(update={"keyframe_interval_frames": 30_000})
    pair.put(wanted.model_copy(update={"video": video})).raise_for_status()


def wait_for_rare_key_frames(pair: PodPair, page: str, far_end: RtmpContainer) -> None:
    """Puts the programme on air; ffmpeg begins with two seconds of key frames that are close."""
    put_with_rare_key_frames(pair, page, far_end)
    pair.wait_phase("running")
    pair.wait_connected("rare")
    pair.wait_for(lambda: pair.metrics()["onair_encoder_frames_total"] > 90, "three seconds are encoded", 20)


def test_the_slate_goes_soon_after_the_page_is_back_however_far_apart_key_frames_are(
    pair: PodPair, page: str, far_end: RtmpContainer
) -> None:
    wait_for_rare_key_frames(pair, page, far_end)
    connection = far_end.wait_publisher("rare")
    put_with_rare_key_frames(pair, "http://127.0.0.1:18081/", far_end)
    pair.wait_for(lambda: pair.status().on_slate, "on the slate", 20)
    put_with_rare_key_frames(pair, page, far_end)
    pair.wait_for(lambda: not pair.status().on_slate, "off the slate", 20)
    assert pair.logged("encode.restarted") >= 1
    assert not is_slate(gray_frames(far_end.read_url("rare"), 1)[-5:])
    assert far_end.publisher("rare") == connection


def test_video_is_back_soon_after_the_agent_is_however_far_apart_key_frames_are(
    pair: PodPair, page: str, far_end: RtmpContainer
) -> None:
    """ffmpeg continues in the middle of a thousand seconds without one."""
    wait_for_rare_key_frames(pair, page, far_end)
    begun = pair.logged("stream.begins")
    assert pair.kill("encoder", "onair_encoder agent")
    pair.wait_for(lambda: pair.logged("stream.begins") > begun, "ffmpeg has reconnected", 20)
    pair.wait_for(lambda: pair.logged("encode.restarted"), "a key frame was asked for", 20)
    pair.wait_phase("running")
    pair.wait_for(lambda: not pair.status().on_slate, "off the slate", 20)
    pair.wait_connected("rare")
    assert not is_slate(gray_frames(far_end.read_url("rare"), 1)[-5:])
