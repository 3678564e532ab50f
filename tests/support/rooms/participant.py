"""A participant of a room: a real browser with LiveKit's own client, a fake camera and a fake microphone."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

from tests.support.delivery.browser_page import Viewer, browser_page
from tests.support.delivery.livekit_server import client_script

PAGE = Path(__file__).with_name("participant.html")
FAKE_DEVICES = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")


@contextlib.asynccontextmanager
async def participant(
    url: str,
    token: str,
    *flags: str,
    publish: bool = True,
    screen: str = "",
    insist: bool = False,
    relay: bool = False,
    firewall: bool = False,
) -> AsyncIterator[Viewer]:
    """A browser that joins, for as long as the context lasts; its reports say what came of it.

    Args:
        flags: of Chromium.
        screen: colour of a screen that is published, too.
        insist: tries again until it is let in.
        relay: media goes through a TURN server alone, over UDP where there is such a one.
        firewall: media goes through a TURN server over TLS alone, as where a network lets nothing else out.
    """
    options = {"publish": publish, "screen": screen, "insist": insist, "relay": relay, "firewall": firewall}
    settings = json.dumps({"url": url, "token": token, **options})
    client = f"{await asyncio.to_thread(client_script)}\nconst SETTINGS = {settings};"
    async with browser_page(PAGE.read_text(), {"/client.js": client}, *FAKE_DEVICES, *flags) as joined:
        await joined.until("loaded", lambda report: report["state"], 40)
        yield joined
