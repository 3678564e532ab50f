"""The demo: starts a show over HTTP as a client does, checks the received media, and saves a picture."""

from __future__ import annotations

import contextlib
import os
import statistics
import time

from tests.support.media import probe
from tests.support.receiver import IN_CLUSTER_RTMP, ReceiverClient, read_url
from tests.support.shows import FacadeClient, LiveShow
from tests.support.waiting import wait_for

from onair_dev.cluster.environment import variables, watch_url
from onair_dev.console_progress import Progress
from onair_dev.failures import Failed
from onair_dev.kept_shows import end_earlier, say_how_to_stop
from onair_dev.settings import BUILD, NODE_PORTS, ROOT, UDP_NODE_PORTS, url

PAGES = "http://onair-demo.onair-system.svc"
RECORD_S = 12.0
RECORDINGS = 3
"""At the most, until one is whole: while a machine does other things frames are missing for seconds."""
TEST_PAGE, GREETING = f"{PAGES}/probe.html", f"{PAGES}/?title=Hello,%20world"
FOLDER = BUILD / "demo"
PATH = "live/hello"


def put_on_air(show: LiveShow, receiver: ReceiverClient) -> str:
    """Starts a show that is received at `PATH`; returns the durations of its steps."""
    application, _, key = PATH.partition("/")
    show.add_destination(f"{IN_CLUSTER_RTMP}/{application}", key=key)
    started = time.monotonic()
    show.start()
    responded = time.monotonic()
    receiver.wait_ready(PATH, 90)
    arrived = time.monotonic()
    show.wait_phase("RUNNING")
    return f"start {responded - started:.2f} s → on air {arrived - started:.1f} s"


def turn_to(show: LiveShow, page: str) -> None:
    """Has a show on the air go on with another page."""
    show.facade.call("PATCH", show.path, {"composition": {"external": {"url": page}}})


def receive(show: LiveShow) -> probe.MediaReport:
    """Records and checks the test page, until one recording is whole; the show goes on with the greeting."""
    for attempt in range(RECORDINGS):
        if attempt:
            turn_to(show, TEST_PAGE)
            wait_for(lambda: latency_ms(1), "the test page is on the air again")
        recording = probe.record(read_url(PATH), RECORD_S, FOLDER)
        turn_to(show, GREETING)
        media = probe.analyse(recording)
        if is_whole(media):
            break
    return media


def latency_ms(frames: int) -> float | None:
    """Returns the median age of frames of the test page as they are received; None: it is not on the air."""
    ages = probe.live_latency_ms(read_url(PATH), frames, width=1280, height=720)
    return statistics.median(ages) if ages else None


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
    with contextlib.ExitStack() as at_the_end, Progress() as progress:
        # First the test page, whose clock can be decoded; then the page for people to watch
        with progress.step("show") as current:
            current.doing = "ending the show of an earlier demo"
            end_earlier(facade, receiver, PATH)
            current.doing = "starting a show of the test page"
            show = facade.show(TEST_PAGE, 1280, 720)
            at_the_end.callback(show.delete)
            durations = put_on_air(show, receiver)
            current.detail = f"collection → project (1280×720@30) → RTMP · {durations}"
        with progress.step("media") as current:
            current.doing = "recording and checking it for about 15 s"
            age_ms = latency_ms(45)
            latency = "unknown" if age_ms is None else f"{age_ms:.0f} ms"
            media = receive(show)
            first, second = str(media).split("\n")
            current.detail = first
        print(f"      {'':<14} {second} · glass to RTMP {latency}")
        if not is_whole(media):
            raise Failed("the received media is incomplete", "run it again while the machine is idle")
        report(show)
        if keep:
            at_the_end.pop_all()
    if keep:
        say_how_to_stop(show)
    else:
        print("stopped  the show is off the air; make demo ARGS=--keep leaves it on")
    print("next     make demo ARGS=--scene      kubectl get onair -n shows      docs/guide/first-show.md")
    rtmp, srt = NODE_PORTS[30936], UDP_NODE_PORTS[30890]
    print(f"send     rtmp://localhost:{rtmp}/live or srt://localhost:{srt}      docs/guide/send.md")


def is_whole(media: probe.MediaReport) -> bool:
    """Whether hardly anything is missing of the received media, and its clicks and flashes were found."""
    damaged_percent = max(media.missing_percent, media.undecodable_percent)
    return damaged_percent <= 1 and media.av_offset_ms is not None


def report(show: LiveShow) -> None:
    """Saves a picture of a show, and prints where to watch it."""
    # The page has settled while the recording of the other one was checked
    recording = probe.record(read_url(PATH), 1.5, FOLDER)
    picture = probe.picture(recording, FOLDER / "hello.jpg")
    print(f"picture  {picture.relative_to(ROOT)}")
    print(f"watch    {watch_url(PATH)}        api docs  {url()}/docs")
    status = show.status()
    print(f"status   {status['phase']} in {status['region']}, on air for {status['duration'] / 1000:.0f} s")
