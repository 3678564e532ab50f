"""The demo of a scene: layouts of examples/scene.yaml by HTTP, a pushed camera, a picture of four frames."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from tests.support.ingest.encoder import FfmpegEncoder, picture
from tests.support.receiver import IN_CLUSTER_RTMP, ReceiverClient, read_url
from tests.support.scene.live_scene import LiveLayout, LiveScene
from tests.support.shows import FacadeClient, LiveShow

from onair_crds.shapes import JsonObject
from onair_dev.cluster.environment import variables, watch_url
from onair_dev.console_progress import Progress
from onair_dev.failures import Failed
from onair_dev.kept_shows import end_earlier, say_how_to_stop
from onair_dev.settings import BUILD, ROOT

EXAMPLE = ROOT / "examples/scene.yaml"
FOLDER = BUILD / "demo"
KEY = "scene"
RATE, LEAD_S, BETWEEN_S = 30, 3, 4
"""Frames a second of the programme; seconds of the recording before, between and after the two switches."""
LIKE = 0.2
"""Of the distance between two layouts: what is nearer to one of them shows that one; its camera moves."""


def layers_of(layers: list[JsonObject], root: str, source: str) -> list[JsonObject]:
    """A manifest's layers as a batch makes them, parents first.

    Args:
        root: id of the root layer that exists.
        source: id of the source that all `source` layers show.
    """
    known = {layer["id"]: layer for layer in layers}
    found: list[JsonObject] = []

    def add(id_: str, parent: str) -> None:
        layer = {name: value for name, value in known[id_].items() if name not in ("id", "children")}
        if layer["type"] == "source":
            layer["data"] = {**layer["data"], "source": {**layer["data"]["source"], "id": source}}
        found.append({**layer, "parentId": parent})
        below = f"index:{len(found) - 1}"
        for child in known[id_].get("children", ()):
            add(child, below)

    top = next(layer for layer in layers if layer["type"] == "root")
    for child in top["children"]:
        add(child, root)
    return found


def transitions_of(given: list[JsonObject], ids: Mapping[str, str]) -> list[JsonObject]:
    """A manifest's transitions as HTTP takes them, with the ids of the layouts there."""
    found = []
    for each in given:
        transition = {**each, "fromLayoutIds": [ids[id_] for id_ in each.get("fromLayoutIds", ())]}
        if swipe := transition.get("swipe"):
            transition["swipe"] = {
                **swipe,
                "direction": f"TRANSITION_DIRECTION_{swipe['direction'].upper()}",
                "combinedAnimation": f"TRANSITION_SWIPE_TYPE_{swipe['combinedAnimation'].upper()}",
            }
        found.append(transition)
    return found


def between(frames: NDArray[np.uint8], first: int, last: int) -> int:
    """The middle one of the frames that show neither what the first one shows nor what the last one shows.

    Raises:
        Failed: there is none.
    """

    def off(one: int, other: int) -> float:
        return float(np.abs(frames[one].astype(int) - frames[other]).mean())

    whole = off(first, last)
    seen = [n for n in range(first, last) if min(off(n, first), off(n, last)) > LIKE * whole]
    if not seen:
        raise Failed("a transition cannot be seen in the recording", "run it again while the machine is idle")
    return seen[len(seen) // 2]


def make_layouts(scene: LiveScene, source: str) -> list[LiveLayout]:
    """Makes the example's layouts, in its order."""
    documents = [each for each in yaml.safe_load_all(EXAMPLE.read_text()) if each["kind"] == "Layout"]
    ids: dict[str, str] = {}
    made = []
    for each in documents:
        layout = scene.layout(*transitions_of(each["spec"]["transitions"], ids))
        layers = layers_of(each["spec"]["layers"], layout.root, source)
        layout.add(**{f"layer {number}": layer for number, layer in enumerate(layers)})
        ids[each["metadata"]["name"]] = layout.id
        made.append(layout)
    return made


def demo(*, keep: bool) -> None:
    """Puts a scene on air, switches its layouts, and saves a picture of what was received.

    Args:
        keep: leave the show on the air; its camera ends.

    Raises:
        Failed: a transition is not seen in what was received.
    """
    os.environ.update(variables())
    FOLDER.mkdir(parents=True, exist_ok=True)
    facade, receiver = FacadeClient.from_environment("demo-scene"), ReceiverClient()
    end_earlier(facade, receiver, f"live/{KEY}")
    show = facade.show("", 1280, 720, composition={"scene": {}})
    try:
        perform(show, receiver)
    finally:
        if keep:
            say_how_to_stop(show)
        else:
            show.delete()
            print("stopped  the show is off the air; make demo ARGS='--scene --keep' leaves it on")
    print("next     examples/scene.yaml      docs/guide/scene.md      docs/reference/scenes.md")


def perform(show: LiveShow, receiver: ReceiverClient) -> None:
    """Goes through the three layouts of the example."""
    scene = LiveScene(show)
    source, push_url = scene.source()
    layouts = make_layouts(scene, source)
    scene.select(layouts[0])
    show.add_destination(f"{IN_CLUSTER_RTMP}/live", key=KEY)
    with FfmpegEncoder(push_url, video=picture("1280x720")), Progress() as progress:
        with progress.step("show") as current:
            current.doing = "starting a show of three layouts with a pushed camera"
            started = time.monotonic()
            show.start()
            receiver.wait_ready(f"live/{KEY}", 90)
            arrived = time.monotonic()
            show.wait_phase("RUNNING")
            current.detail = (
                f"camera → scene of {len(layouts)} layouts → RTMP · on air {arrived - started:.1f} s"
            )
        with progress.step("scene") as current:
            current.doing = "recording a crossfade and a swipe"
            recording = FOLDER / "scene.mkv"
            with recorded(read_url(f"live/{KEY}"), recording):
                for layout in layouts[1:]:
                    time.sleep(LEAD_S if layout == layouts[1] else BETWEEN_S)
                    scene.select(layout)
                time.sleep(BETWEEN_S)
            saved = save_picture(recording, FOLDER / "scene.jpg")
            current.detail = "crossfade to the second layout, swipe to the third"
    print(f"picture  {saved.relative_to(ROOT)}")
    print(f"watch    {watch_url(f'live/{KEY}')}")


@contextlib.contextmanager
def recorded(url: str, path: Path) -> Iterator[None]:
    """Records a stream for as long as the context lasts."""
    command = ["ffmpeg", "-loglevel", "error", "-y", "-i", url, "-c", "copy", "-f", "matroska", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.communicate(b"q", timeout=10)


def save_picture(recording: Path, path: Path) -> Path:
    """Saves four frames in one picture: a layout, the way to the next, that one, the way to the last."""
    small = ("-vf", "scale=64:36", "-pix_fmt", "gray", "-f", "rawvideo")
    decode = ["ffmpeg", "-loglevel", "error", "-i", str(recording), "-an", "-fps_mode", "passthrough", *small]
    decoded = subprocess.run([*decode, "-"], check=True, capture_output=True, stdin=subprocess.DEVNULL)
    frames = np.frombuffer(decoded.stdout, np.uint8).reshape(-1, 36, 64)
    # From its end: a reader may be given a second from before it came, or come late on a busy machine
    last = len(frames) - 1
    second = last - (BETWEEN_S + 1) * RATE
    first = max(0, second - BETWEEN_S * RATE)
    chosen = [first, between(frames, first, second), second, between(frames, second, last)]
    wanted = "+".join(f"eq(n,{number})" for number in chosen)
    tiled = f"select='{wanted}',scale=640:360:flags=lanczos,tile=2x2:padding=8:color=white"
    command = ["ffmpeg", "-loglevel", "error", "-y", "-nostdin", "-i", str(recording), "-vf", tiled]
    subprocess.run([*command, "-frames:v", "1", "-q:v", "3", str(path)], check=True)
    return path
