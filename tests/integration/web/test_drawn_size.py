"""Pictures that are drawn at half their size or less are halved before, and shown as large as before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.support.pages import site
from tests.support.scene.browser import Tab, tab

from onair_encoder.sources.source_relay import SCRIPTS

pytestmark = pytest.mark.media

NAMES = ("chroma-correction.js", "drawn-size.js", "due-pictures.js", "paint-phase.js")
TOOLS = """
const colorSpace = {matrix: 'smpte170m', primaries: 'smpte170m', transfer: 'smpte170m', fullRange: false};
const made = (width, height, luma, more = {}) => {
  const planes = [Array.from({length: width * height}, (_, at) => luma(at % width, Math.floor(at / width)))];
  const count = Math.ceil(width / 2) * Math.ceil(height / 2);
  planes.push(Array(count).fill(100), Array(count).fill(200));
  const given = {format: 'I420', codedWidth: width, codedHeight: height, timestamp: 7, colorSpace, ...more};
  return new VideoFrame(Uint8Array.from(planes.flat()), given);
};
const read = async frame => {
  const data = new Uint8Array(frame.allocationSize()), layout = await frame.copyTo(data);
  const {codedWidth, codedHeight, displayWidth, displayHeight, timestamp} = frame;
  const planes = layout.map(({offset}, plane) => [...data.subarray(offset, layout[plane + 1]?.offset)]);
  return {size: [codedWidth, codedHeight], shown: [displayWidth, displayHeight], timestamp, planes};
};
const pause = ms => new Promise(done => setTimeout(done, ms));
"""


@pytest_asyncio.fixture
async def page(chromium: str) -> AsyncIterator[Tab]:
    files = {f"/{name}": ("text/javascript", SCRIPTS[name].read_bytes()) for name in NAMES}
    files["/page"] = ("text/html", b"<body style='margin: 0'></body>")
    with site(files) as address:
        async with tab(chromium, f"{address}/page", 1280, 720) as page:
            yield page


async def seen(page: Tab, script: str) -> Any:
    loaded = ", ".join(f"import('/{name}')" for name in NAMES[:3])
    modules = f"const [{{ChromaCorrection}}, {{DrawnSize}}, {{DuePictures}}] = await Promise.all([{loaded}]);"
    return await page.evaluate(f"(async () => {{ {TOOLS} {modules} {script} }})()")


async def test_each_four_pixels_become_their_mean(page: Tab) -> None:
    found = await seen(
        page,
        "return read(await new ChromaCorrection().corrected(made(32, 8, (x, y) => 16 + x * 4 + y), 1));",
    )
    luma, *chroma = found["planes"]
    wanted = [16 + (2 * x + 0.5) * 4 + 2 * y + 0.5 for y in range(4) for x in range(16)]
    assert found["size"] == [16, 4]
    assert found["shown"] == [32, 8]
    assert found["timestamp"] == 7
    assert max(abs(is_ - mean) for is_, mean in zip(luma, wanted, strict=True)) <= 0.5
    assert chroma == [[100] * 16, [200] * 16]


async def test_it_is_halved_as_often_as_is_wanted_and_no_pixel_runs_into_another(page: Tab) -> None:
    """Neighbours that are as bright and as dark as there are, in words of four."""
    found = await seen(
        page,
        "const luma = (x, y) => (x >> 2) % 2 ? 255 : 0;"
        "return read(await new ChromaCorrection().corrected(made(64, 16, luma), 2));",
    )
    assert found["size"] == [16, 4]
    assert found["planes"][0] == [0, 255] * 8 * 4


@pytest.mark.parametrize(
    ("made", "halvings", "size"),
    [
        pytest.param("made(32, 8, () => 50)", 0, [32, 8], id="drawn as large as it is"),
        pytest.param("made(24, 8, () => 50)", 1, [24, 8], id="a width of half words"),
        pytest.param("made(32, 6, () => 50)", 1, [32, 6], id="a height whose chroma is odd"),
        pytest.param("made(48, 8, () => 50)", 3, [24, 4], id="as often as it is even"),
        pytest.param("made(32, 8, () => 50, {rotation: 90})", 1, [32, 8], id="turned"),
    ],
)
async def test_what_cannot_be_halved_evenly_stays(
    page: Tab, made: str, halvings: int, size: list[int]
) -> None:
    found = await seen(page, f"return read(await new ChromaCorrection().corrected({made}, {halvings}));")
    assert found["size"] == size
    assert set(found["planes"][0]) == {50}


async def test_the_largest_element_counts_of_those_that_are_seen(page: Tab) -> None:
    found = await seen(
        page,
        """
        const drawn = new DrawnSize(), found = [];
        const look = () => { found.push(drawn.halvings({width: 640, height: 360})); };
        const add = style => {
          const video = Object.assign(document.createElement('video'), {style});
          document.body.append(video);
          const end = drawn.add(video);
          look();
          return {end, style: video.style};
        };
        look();
        const half = add('width: 320px; height: 180px'), small = add('width: 100px; height: 50px');
        add('width: 640px; height: 360px; display: none');
        small.style.height = '200px';
        look();
        small.style.height = '50px';
        half.end();
        look();
        add('').end();
        add('width: 160px; height: 90px; transform: scale(4)');
        return found;""",
    )
    assert found == [0, 1, 1, 1, 0, 2, 0, 0]


async def test_what_is_drawn_larger_is_shown_again_with_all_its_pixels(page: Tab) -> None:
    """Also where no more pictures come."""
    found = await seen(
        page,
        """
        const pictures = new DuePictures({mediaMs: now => now}), found = [];
        const video = Object.assign(document.createElement('video'), {muted: true, autoplay: true});
        video.srcObject = new MediaStream([pictures.track]);
        document.body.append(video);
        const add = () => pictures.add(made(64, 16, () => 50, {timestamp: performance.now() * 1000}));
        const shows = async (wanted, send = () => {}) => {
          for (let attempt = 0, width = 0; attempt < 100 && width !== wanted; attempt++) {
            send();
            await pause(50);
            if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) continue;
            const frame = new VideoFrame(video);
            width = frame.codedWidth;
            frame.close();
            if (width === wanted) found.push([width, video.videoWidth]);
          }
        };
        pictures.halve(1);
        await shows(32, add);
        pictures.halve(0);
        await shows(64);
        pictures.halve(2);
        await shows(16, add);
        pictures.end();
        pictures.halve(0);
        return found;""",
    )
    assert found == [[32, 64], [64, 64], [16, 64]]
