"""SRT to a real listener: media as it was sent, encryption, a proper end, refusals in words."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.support.delivery.far_end import FarEnd, decoded
from tests.support.delivery.live_program import FRAMERATE, HEIGHT, WIDTH, live_program
from tests.support.delivery.watched import SentPackets, WatchedDelivery, assert_every_packet_once
from tests.support.processes import command_lines, descendants

from onair_crds.contract.program import ProgramDestination

pytestmark = pytest.mark.media

ATTEMPTS, MOST = 3, 2
"""A far end that does not get a core for 200 ms has let a timeout pass."""
SENDER = "onair_encoder.publish.srt.sender_process"
PASSPHRASE = "a phrase of some length"


def srt(id_: str, url: str, key: str | None = None, passphrase: str | None = None) -> ProgramDestination:
    return ProgramDestination(
        id=id_,
        type="SRT",
        url=url,
        key=SecretStr(key) if key else None,
        passphrase=SecretStr(passphrase) if passphrase else None,
    )


async def test_every_packet_arrives_once_and_the_session_ends_properly(tmp_path: Path) -> None:
    async with FarEnd(tmp_path) as far_end, live_program() as fan_out:
        sent, watched = SentPackets(fan_out), WatchedDelivery(fan_out)
        url = f"srt://127.0.0.1:{far_end.srt}"
        watched.want(
            srt("in-url", f"{url}?streamid=publish:recorded/a&latency=200"),
            srt("as-key", url, key="publish:recorded/b"),
        )
        await watched.connected("in-url", "as-key")
        for name in ("recorded/a", "recorded/b"):
            await far_end.received_more(name, 200_000)
        assert watched.state("in-url").last_error is None
        assert len(descendants(with_argument=SENDER)) == 2
        assert "recorded/b" not in str(command_lines())
        await watched.delivery.finish()
        # Three seconds after the end at most: a listener that was not notified would wait for five.
        for name in ("recorded/a", "recorded/b"):
            await far_end.gone(name, 3.0)
            assert_every_packet_once(far_end.recorded(name), sent, least_s=2)
            media = decoded(far_end.recordings(name)[0])
            assert (media.width, media.height, media.errors) == (WIDTH, HEIGHT, "")
            assert media.frames > 2 * FRAMERATE
            assert media.samples > 2 * 48_000


async def test_a_passphrase_encrypts_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    paths: dict[str, Any] = {"open/locked": {"srtPublishPassphrase": PASSPHRASE}}
    async with FarEnd(tmp_path, **paths) as far_end, live_program() as fan_out:
        watched = WatchedDelivery(fan_out)
        url = f"srt://127.0.0.1:{far_end.srt}?pbkeylen=32&streamid=publish:open/"
        watched.want(
            srt("right", url + "locked", passphrase=PASSPHRASE),
            srt("wrong", url + "locked", passphrase="another phrase"),
            srt("none", url + "locked"),
            srt("unexpected", url + "unlocked", passphrase=PASSPHRASE),
            srt("short", url + "unlocked", passphrase="short"),
        )
        await watched.connected("right")
        await far_end.received_more("open/locked", 50_000)
        await watched.reports("wrong", "passphrase may be wrong")
        await watched.reports("none", "passphrase may be wrong")
        await watched.reports(
            "unexpected", "the server refuses the passphrase, or expects none; retried every"
        )
        await watched.reports("short", "10 to 79 characters; retried every")
        assert PASSPHRASE not in str(watched.history)
        await watched.delivery.finish()


async def test_refusals_are_reported_in_words(tmp_path: Path) -> None:
    paths: dict[str, Any] = {"open/taken": {"overridePublisher": False}}
    async with FarEnd(tmp_path, **paths) as far_end, live_program() as fan_out:
        watched = WatchedDelivery(fan_out)
        url = f"srt://127.0.0.1:{far_end.srt}?streamid=publish:"
        watched.want(srt("first", url + "open/taken"))
        await watched.connected("first")
        watched.want(
            srt("first", url + "open/taken"),
            srt("second", url + "open/taken"),
            srt("stranger", url + "closed/a:alice:wrong"),
            srt("welcome", url + "closed/b:alice:secret"),
            srt("nobody", f"srt://127.0.0.1:{far_end.rtmp}"),
            srt("nowhere", "srt://nowhere.invalid:1000"),
            srt("listener", f"srt://127.0.0.1:{far_end.srt}?mode=listener"),
        )
        await watched.connected("first", "welcome")
        await watched.reports("second", "the stream id may be refused or in use")
        await watched.reports("stranger", "stream id or passphrase may be wrong")
        await watched.reports("nobody", f"no response from 127.0.0.1:{far_end.rtmp}")
        await watched.reports("nowhere", "nowhere.invalid: name")
        await watched.reports("listener", "a mode other than caller")
        assert "secret" not in str(watched.history)
        assert not watched.errors("first")
        await watched.delivery.finish()


@pytest.mark.parametrize("how", ["killed", "removed"])
async def test_a_sender_that_ends_is_restarted_or_leaves_nothing(tmp_path: Path, how: str) -> None:
    async with FarEnd(tmp_path) as far_end, live_program() as fan_out:
        watched = WatchedDelivery(fan_out)
        watched.want(srt("one", f"srt://127.0.0.1:{far_end.srt}?streamid=publish:open/one"))
        await watched.connected("one")
        (process,) = descendants(with_argument=SENDER)
        if how == "killed":
            os.kill(process, signal.SIGKILL)
            await watched.reports("one", "the sender ended unexpectedly")
            await watched.connected("one")
            await far_end.received_more("open/one", 50_000)
        watched.want()
        await far_end.gone("open/one", 3.0)
        await watched.delivery.finish()
        assert descendants(with_argument=SENDER) == []


async def test_the_shortest_timeout_resets_no_session_that_goes_well(tmp_path: Path) -> None:
    async with FarEnd(tmp_path) as far_end, live_program() as fan_out:
        watched = WatchedDelivery(fan_out)
        url = f"srt://127.0.0.1:{far_end.srt}?streamid=publish:open/"
        results = []
        for attempt in range(ATTEMPTS):
            hasty = srt(f"hasty-{attempt}", f"{url}hasty-{attempt}").model_copy(update={"timeout_ms": 100})
            changed = srt(f"changed-{attempt}", f"{url}changed-{attempt}")
            watched.want(hasty, changed)
            await watched.connected(hasty.id, changed.id)
            watched.want(hasty, changed.model_copy(update={"timeout_ms": 100}))
            await far_end.received_more(f"open/{hasty.id}", 150_000)
            await far_end.received_more(f"open/{changed.id}", 20_000)
            again = watched.state(changed.id).attempts - 1
            results.append((watched.errors(hasty.id), watched.errors(changed.id), again))
            if results.count(("", "", 0)) == MOST:
                break
        assert results.count(("", "", 0)) == MOST, results
        await watched.delivery.finish()
