"""Measures how soon who joins an empty room sees a source, with operator, gateway and room server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.ingest.preview_stage import SOURCE, staged
from tests.support.operated_namespace import OperatedNamespace
from tests.support.rooms.hosted_rooms import room_server
from tests.support.rooms.participant import participant
from tests.support.waiting import seconds_until

JOINS = 5
SHOWN = f"{SOURCE} screen_share"
LEFT_S = 90.0
"""Of a browser that is killed; the room server waits for it to come back."""


async def test_join_to_first_picture_of_a_preview(
    operated_namespace: OperatedNamespace, tmp_path: Path, report: Callable[..., float]
) -> None:
    """In a browser; the video has B-frames, and key frames 2 s apart, and nobody read it before."""
    times_s = []
    (tmp_path / "rooms").mkdir()
    with room_server(tmp_path / "rooms") as server:
        async with (
            staged(operated_namespace, server, tmp_path) as stage,
            operated_namespace.operator(**stage.settings),
        ):
            with stage.camera():
                await stage.flows()
                for _ in range(JOINS):
                    await seconds_until(lambda: stage.previews() == 0, "nothing is shown to nobody", LEFT_S)
                    token = server.token(stage.room, "anna", canSubscribe=True, canPublish=False)
                    async with participant(server.url, token, publish=False) as browser:
                        told = await browser.until("a picture", lambda r: r["frames"].get(SHOWN), 40)
                        at_ms = {each["name"]: each["at"] for each in reversed(told["events"])}
                        times_s.append((at_ms["picture"] - at_ms["connected"]) / 1000)
    assert report("join → first picture of a preview in a browser", times_s, "s", 5) < 10
