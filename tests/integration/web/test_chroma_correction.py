"""Frames of BT.709 are given the Cb that the browser's own conversion cuts; others are left as they are."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from tests.support.scene.browser import tab

from onair_encoder.sources.source_relay import SCRIPTS

pytestmark = pytest.mark.media

LUMA, CB, CR = 90, 200, 100
TRUE_BLUE = 1.1644 * (LUMA - 16) + 2.1124 * (CB - 128)
"""Of BT.709 in limited range."""
PLAY = """(async () => {
  const {ChromaCorrection} = await import('data:text/javascript;base64,%s');
  const chroma = new ChromaCorrection(), given = %s;
  const frames = given.map(({format, width, height, matrix, fullRange, planes}, at) => {
    const data = Uint8Array.from(planes.flatMap(({count, value}) => Array(count).fill(value)));
    const colorSpace = {matrix, primaries: 'bt709', transfer: 'bt709', fullRange};
    return new VideoFrame(data, {format, codedWidth: width, codedHeight: height, timestamp: at, colorSpace});
  });
  const applied = frames.map(frame => chroma.applies(frame));
  const made = await Promise.all(frames.map(frame => chroma.corrected(frame)));
  const context = new OffscreenCanvas(64, 64).getContext('2d');
  return Promise.all(made.map(async (frame, at) => {
    const data = new Uint8Array(frame.allocationSize()), layout = await frame.copyTo(data);
    context.drawImage(frame, 0, 0);
    const blue = context.getImageData(1, 1, 1, 1).data[2], {timestamp} = frame, same = frame === frames[at];
    frame.close();
    return {applied: applied[at], same, timestamp, blue, planes: layout.map(({offset}, plane) =>
      [...new Set(data.subarray(offset, layout[plane + 1]?.offset))])};
  }));
})()"""


def frame(
    format_: str = "I420", size: tuple[int, int] = (16, 8), matrix: str = "bt709", *, full: bool = False
) -> dict[str, Any]:
    width, height = size
    columns, rows = {"I420": (2, 2), "I422": (2, 1), "I444": (1, 1), "NV12": (2, 2)}[format_]
    chroma = -(-width // columns) * -(-height // rows)
    planes = [(width * height, LUMA), (chroma, CB), (chroma, CR)]
    return {
        "format": format_,
        "width": width,
        "height": height,
        "matrix": matrix,
        "fullRange": full,
        "planes": [{"count": count, "value": value} for count, value in planes],
    }


async def corrected(chromium: str, *frames: dict[str, Any]) -> list[dict[str, Any]]:
    sizes = base64.b64encode(SCRIPTS["drawn-size.js"].read_bytes()).decode()
    text = SCRIPTS["chroma-correction.js"].read_text()
    text = text.replace("./drawn-size.js", f"data:text/javascript;base64,{sizes}")
    script = base64.b64encode(text.encode()).decode()
    async with tab(chromium, "about:blank", 160, 90) as page:
        found: list[dict[str, Any]] = await page.evaluate(PLAY % (script, json.dumps(frames)))
    return found


async def test_bt709_is_shown_with_its_blue_at_every_sampling_and_odd_size(chromium: str) -> None:
    frames = [frame(), frame("I422"), frame("I444"), frame(size=(17, 9)), frame("I444", (5, 3)), frame()]
    for number, seen in enumerate(await corrected(chromium, *frames)):
        assert seen["applied"]
        assert not seen["same"]
        assert seen["timestamp"] == number, "in their order"
        (luma,), (cb,), (cr,) = seen["planes"]
        assert (luma, cr) == (LUMA, CR)
        assert cb == round(128 + (CB - 128) * 2.1124 / 2)
        assert abs(seen["blue"] - TRUE_BLUE) <= 2


@pytest.mark.parametrize(
    "given",
    [frame(matrix="smpte170m"), frame(full=True), frame("NV12")],
    ids=["BT.601", "full range", "NV12"],
)
async def test_what_is_not_cut_or_has_no_plane_of_cb_is_left_as_it_is(
    chromium: str, given: dict[str, Any]
) -> None:
    (seen,) = await corrected(chromium, given)
    assert not seen["applied"]
    assert seen["same"]
