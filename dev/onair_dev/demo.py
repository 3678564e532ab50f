"""The demo: starts a show over HTTP as a client does, checks the received media, and saves a picture."""

from __future__ import annotations

import os
import statistics
import time

from tests.support.media import probe
from tests.support.receiver import IN_CLUSTER_RTMP, ReceiverClient, read_url
from tests.support.shows import FacadeClient, LiveShow

from onair_dev.cluster.environment import variables, watch_url
from onair_dev.console_progress import Progress
from onair_dev.failures import Failed
from onair_dev.settings import BUILD, NODE_PORTS, ROOT, UDP_NODE_PORTS, url

PAGES = "http://onair-demo.onair-system.svc"
RECORD_S = 12.0
FOLDER = BUILD / "demo"


def put_on_air(facade: FacadeClient, page: str, key: str, receiver: ReceiverClient) -> tuple[LiveShow, str]:
    """Starts a show that is received at `live/<key>`; returns it and the durations of its steps."""
    show = facade.show(page, 1280, 720)
    show.add_destination(f"{IN_CLUSTER_RTMP}/live", key=key)
    started = time.monotonic()
    show.start()
    responded = time.monotonic()
    receiver.wait_ready(f"live/{key}", 90)
    arrived = time.monotonic()
    show.wait_phase("RUNNING")
    return show, f"start {responded - started:.2f} s → on air {arrived - started:.1f} s"


def check(key: str) -> tuple[probe.MediaReport, float]:
    """Records and decodes the received media; returns a report and the latency in milliseconds."""
    latency_ms = statistics.median(probe.live_latency_ms(read_url(f"live/{key}"), width=1280, height=720))
    return probe.analyse(probe.record(read_url(f"live/{key}"), RECORD_S, FOLDER)), latency_ms


def demo(*, keep: bool) -> None:
    """Puts a show on air, checks the received media, and saves a picture.

    Args:
        keep: leave the show on the air.

    Raises:
        Failed: the received media is incomplete.
    """
    os.environ.update(variables())
    FOLDER.mkdir(parents=True, exist_ok=True)
    facade, receiver = FacadeClient.from_environment("demo"), ReceiverClient()
    # First the test page, whose clock can be decoded; then the page for people to watch.
    with Progress() as progress:
        with progress.step("show") as current:
            current.doing = "starting a show of the test page"
            measured, durations = put_on_air(facade, f"{PAGES}/probe.html", "probe", receiver)
            current.detail = f"collection → project (1280×720@30) → RTMP · {durations}"
        try:
            with progress.step("media") as current:
                current.doing = "recording and checking it for about 15 s"
                media, latency_ms = check("probe")
                first, second = str(media).split("\n")
                current.detail = first
            print(f"      {'':<14} {second} · glass to RTMP {latency_ms:.0f} ms")
            if media.missing_percent > 1 or media.undecodable_percent > 1 or media.av_offset_ms is None:
                raise Failed("the received media is incomplete", "run it again while the machine is idle")
        finally:
            measured.delete()
    hello, _ = put_on_air(facade, f"{PAGES}/?title=Hello,%20world", "hello", receiver)
    try:
        report(hello)
    finally:
        if not keep:
            hello.delete()
            print("stopped  the show is off the air; make demo ARGS=--keep leaves it on")
    print("next     make demo ARGS=--scene      kubectl get onair -n shows      docs/guide/first-show.md")
    rtmp, srt = NODE_PORTS[30936], UDP_NODE_PORTS[30890]
    print(f"send     rtmp://localhost:{rtmp}/live or srt://localhost:{srt}      docs/guide/send.md")


def report(show: LiveShow) -> None:
    """Saves a picture of a show, and prints where to watch it."""
    time.sleep(2)  # a picture of the page after it has settled
    recording = probe.record(read_url("live/hello"), 2, FOLDER)
    picture = probe.picture(recording, FOLDER / "hello.jpg")
    print(f"picture  {picture.relative_to(ROOT)}")
    print(f"watch    {watch_url('live/hello')}        api docs  {url()}/docs")
    status = show.status()
    print(f"status   {status['phase']} in {status['region']}, on air for {status['duration'] / 1000:.0f} s")
