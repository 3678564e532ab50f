"""The main job as a client does it: a show over HTTP, checked at its far end, with a picture of it."""

from __future__ import annotations

import os
import statistics
import time

from tests.support.media import probe
from tests.support.receiver import IN_CLUSTER_RTMP, RTMP, Receiver
from tests.support.shows import FacadeClient, LiveShow

from onair_dev.cluster.environment import variables
from onair_dev.failures import Failed
from onair_dev.progress import Progress
from onair_dev.settings import BUILD, NODE_PORTS, ROOT, url

PAGES = "http://onair-demo.onair-system.svc"
RECORD_S = 12.0
FOLDER = BUILD / "demo"


def put_on_air(facade: FacadeClient, page: str, key: str, receiver: Receiver) -> tuple[LiveShow, str]:
    """A show at `live/<key>`; gives it and how long each part of the way took."""
    show = facade.show(page, 1280, 720)
    show.add_destination(f"{IN_CLUSTER_RTMP}/live", key=key)
    started = time.monotonic()
    show.start()
    answered = time.monotonic()
    receiver.wait_ready(f"live/{key}", 90)
    arrived = time.monotonic()
    show.wait_phase("RUNNING")
    return show, f"start {answered - started:.2f} s → on air {arrived - started:.1f} s"


def check(key: str) -> tuple[probe.MediaReport, float]:
    """Records and decodes what arrived; gives a report and the latency in milliseconds."""
    latency_ms = statistics.median(probe.live_latency_ms(f"{RTMP}/live/{key}", width=1280, height=720))
    return probe.analyse(probe.record(f"{RTMP}/live/{key}", RECORD_S, FOLDER)), latency_ms


def demo(*, keep: bool) -> None:
    """Puts a show on air, checks what arrives, and leaves a picture.

    Args:
        keep: leave the show on the air.

    Raises:
        Failed: the media that arrived is not whole.
    """
    os.environ.update(variables())
    FOLDER.mkdir(parents=True, exist_ok=True)
    facade, receiver = FacadeClient.from_environment("demo"), Receiver()
    # First the test page, which says of itself what it is; then the one that is good to look at.
    with Progress() as progress:
        with progress.step("show") as current:
            current.doing = "starting a show of the test page"
            measured, way = put_on_air(facade, f"{PAGES}/probe.html", "probe", receiver)
            current.detail = f"collection → project (1280×720@30) → RTMP · {way}"
        try:
            with progress.step("media") as current:
                current.doing = "watching it for a quarter of a minute"
                media, latency_ms = check("probe")
                first, second = str(media).split("\n")
                current.detail = first
            print(f"      {'':<14} {second} · glass to RTMP {latency_ms:.0f} ms")
            if media.missing_percent > 1 or media.undecodable_percent > 1 or media.av_offset_ms is None:
                raise Failed("the media that arrived is not whole", "run it again while the machine is idle")
        finally:
            measured.delete()
    hello, _ = put_on_air(facade, f"{PAGES}/?title=Hello,%20world", "hello", receiver)
    try:
        report(hello)
    finally:
        if not keep:
            hello.delete()
            print("stopped  the show is off the air; make demo ARGS=--keep leaves it on")
    print("next     kubectl get onair -n shows      docs/guide/first-show.md")


def report(show: LiveShow) -> None:
    """Takes a picture of a show, and says where to watch it."""
    time.sleep(2)  # a picture of the page after its first moments
    recording = probe.record(f"{RTMP}/live/hello", 2, FOLDER)
    picture = probe.picture(recording, FOLDER / "hello.jpg")
    print(f"picture  {picture.relative_to(ROOT)}")
    print(f"watch    http://localhost:{NODE_PORTS[30888]}/live/hello        api docs  {url()}/docs")
    status = show.status()
    print(f"status   {status['phase']} in {status['region']}, on air for {status['duration'] / 1000:.0f} s")
