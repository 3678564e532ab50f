"""A real browser that plays a playlist by hls.js."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from tests.support.delivery.browser_page import Viewer, browser_page
from tests.support.delivery.npm_script import npm_script

VERSION = "1.6.16"
SHA256 = "442f599c34f103c3355b375a23bdff560592d7117d09a8c847242ea3de2d40e0"
PAGE = """<!doctype html><meta charset="utf-8"><title>player</title><video muted autoplay></video>
<script src="/hls.js"></script><script>
const video = document.querySelector("video"), faults = [];
const hls = new Hls({liveSyncDurationCount: 2});
hls.on(Hls.Events.ERROR, (_, error) => faults.push({details: error.details, fatal: error.fatal}));
hls.loadSource(PLAYLIST);
hls.attachMedia(video);
setInterval(() => {
  const quality = video.getVideoPlaybackQuality();
  fetch("/report", {method: "POST", body: JSON.stringify({
    time: video.currentTime, width: video.videoWidth, height: video.videoHeight, ended: video.ended,
    decoded: quality.totalVideoFrames, dropped: quality.droppedVideoFrames,
    audio: video.webkitAudioDecodedByteCount, paused: video.paused, faults,
    behindMs: hls.playingDate ? Date.now() - hls.playingDate.getTime() : null,
  })});
}, 200);
</script>"""


def player(folder: Path) -> AbstractAsyncContextManager[Viewer]:
    """A browser that plays the playlist in a folder."""
    return playing("/bucket/index.m3u8", {"/bucket": folder})


@contextlib.asynccontextmanager
async def playing(url: str, folders: Mapping[str, Path] | None = None) -> AsyncIterator[Viewer]:
    """A browser that plays a playlist, for as long as the context lasts.

    Args:
        folders: served beside the page, by path.
    """
    script = await asyncio.to_thread(npm_script, "hls.js", VERSION, "hls.min.js", SHA256)
    script += f"\nconst PLAYLIST = {json.dumps(url)};"
    async with browser_page(PAGE, {"/hls.js": script}, folders=folders) as watching:
        await watching.until("reporting", lambda report: "time" in report, 40)
        yield watching
