"""A destination that begins while its predecessor in the same place still stores what waits."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.delivery.bucket import names
from tests.support.delivery.hls_in_memory import HlsInMemory

from onair_crds.contract.program import ProgramDestination
from onair_crds.session_error import SessionError
from onair_encoder.publish.delivery import Delivery
from onair_encoder.publish.encoder_run import EncoderRun

RUN, INDEX = "run.m3u8", "index.m3u8"


async def draining(hls: HlsInMemory, wanted: ProgramDestination) -> Delivery:
    """A recording of four segments, of which one is stored, that was stopped."""
    delivery = Delivery(hls.programme.fan_out, lambda: None)
    delivery.want([wanted], EncoderRun("run"))
    await hls.bucket.until(lambda: hls.programme.fan_out._subscribers, "begun")
    hls.programme.segments(1)
    await hls.bucket.until(lambda: RUN in hls.bucket.objects, "a playlist")
    hls.bucket.refuses = lambda method, key: SessionError("not available") if "_rec-" in key else None
    hls.programme.segments(3)
    delivery.want([], EncoderRun("run"))
    await hls.bucket.until(lambda: not hls.programme.fan_out._subscribers, "stopped")
    return delivery


@pytest.mark.parametrize("id_", ["archive", "another"])
async def test_a_recording_goes_on_at_once_with_what_its_predecessor_has_not_stored(
    hls: HlsInMemory, id_: str
) -> None:
    bucket = hls.bucket
    delivery = await draining(hls, hls.wanted())
    delivery.want([hls.wanted(id_)], EncoderRun("run"))
    await bucket.until(lambda: hls.programme.fan_out._subscribers, "it takes packets")
    hls.programme.segments(1)
    bucket.refuses = lambda method, key: None
    await bucket.until(lambda: delivery.destinations[0].is_connected, "connected")
    assert not bucket.ended, "there is one recording"
    await delivery.finish()
    text = bucket.text(RUN)
    assert sorted(names(text)) == sorted(bucket.segments)
    assert len(bucket.segments) == 4 + 1 + 1 + 1, "with what each was cutting when it was stopped"
    assert text.endswith("#EXT-X-ENDLIST\n")
    assert bucket.text(INDEX) == text
    assert text.count("#EXT-X-DISCONTINUITY\n") >= 1
    assert not [each for each in hls.disk.rglob("*") if each.is_file()]


async def test_a_window_is_live_at_once_beside_a_recording_that_drains_and_both_are_complete(
    hls: HlsInMemory,
) -> None:
    bucket = hls.bucket
    delivery = await draining(hls, hls.wanted())
    delivery.want([hls.wanted("live", vod=False)], EncoderRun("run"))
    await bucket.until(lambda: hls.programme.fan_out._subscribers, "it takes packets")
    hls.programme.segments(1)
    async with asyncio.timeout(2):
        await bucket.until(lambda: names(bucket.text(INDEX)) == names_of_window(bucket.segments), "live")
    bucket.refuses = lambda method, key: None
    await bucket.until(lambda: bucket.text(RUN).endswith("#EXT-X-ENDLIST\n"), "the recording is closed")
    recorded = {each for each in bucket.segments if "_rec-" in each}
    assert (len(recorded), set(names(bucket.text(RUN)))) == (5, recorded)
    await delivery.finish()
    assert names(bucket.text(INDEX)) == names_of_window(bucket.segments), "nor is the window's replaced"


def names_of_window(segments: set[str]) -> list[str]:
    return sorted(each for each in segments if "_rec-" not in each) or ["none"]
