"""The main job as a client does it: a show over HTTP, checked at its far end, with a picture of it."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "dev")]

from progress import Failed, last_words, step  # noqa: E402
from settings import NODE_PORTS, url  # noqa: E402
from tests.support.media import probe  # noqa: E402
from tests.support.receiver import IN_CLUSTER_RTMP, RTMP, Receiver  # noqa: E402
from tests.support.shows import Facade, Show  # noqa: E402

PAGES = "http://onair-demo.onair-system.svc"
RECORD_S = 12.0


def put_on_air(facade: Facade, page: str, key: str, receiver: Receiver) -> tuple[Show, str]:
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


def check(key: str) -> tuple[probe.MediaReport, float, probe.Recording]:
    """Records and decodes what arrived."""
    latency_ms = statistics.median(probe.live_latency_ms(f"{RTMP}/live/{key}", width=1280, height=720))
    recording = probe.record(f"{RTMP}/live/{key}", RECORD_S, ROOT / "build/demo")
    return probe.analyse(recording), latency_ms, recording


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="leave the show on the air")
    options = parser.parse_args()
    (ROOT / "build/demo").mkdir(parents=True, exist_ok=True)
    facade, receiver = Facade.from_environment("demo"), Receiver()
    # First the test page, which says of itself what it is; then the one that is good to look at.
    measured: Show | None = None
    with step("[5/6]", "show") as current:
        current.doing = "starting a show of the test page"
        measured, way = put_on_air(facade, f"{PAGES}/probe.html", "probe", receiver)
        current.detail = f"collection → project (1280×720@30) → RTMP · {way}"
    try:
        with step("[6/6]", "media") as current:
            current.doing = "watching it for a quarter of a minute"
            media, latency_ms, _ = check("probe")
            first, second = str(media).split("\n")
            current.detail = first
        print(f"      {'':<12} {second} · glass to RTMP {latency_ms:.0f} ms")
        if media.missing_percent > 1 or media.undecodable_percent > 1 or media.av_offset_ms is None:
            raise Failed("the media that arrived is not whole", "run it again while the machine is idle")
    finally:
        measured.delete()
    hello, _ = put_on_air(facade, f"{PAGES}/?title=Hello,%20world", "hello", receiver)
    try:
        time.sleep(2)  # a picture of the page after its first moments
        recording = probe.record(f"{RTMP}/live/hello", 2, ROOT / "build/demo")
        picture = probe.picture(recording, ROOT / "build/demo/hello.jpg")
        print(f"picture  {picture.relative_to(ROOT)}")
        print(f"watch    http://localhost:{NODE_PORTS[30888]}/live/hello        api docs  {url()}/docs")
        status = hello.status()
        print(
            f"status   {status['phase']} in {status['region']}, on air for {status['duration'] / 1000:.0f} s"
        )
    finally:
        if not options.keep:
            hello.delete()
            print("stopped  the show is off the air; make demo ARGS=--keep leaves it on")
    print("next     kubectl get onair -n shows      docs/guide/first-show.md")


if __name__ == "__main__":
    with last_words():
        main()
