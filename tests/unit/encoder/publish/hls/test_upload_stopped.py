"""From its stop on a destination takes nothing more of the show, however long it takes to store the rest."""

from __future__ import annotations

import pytest
from tests.support.delivery.bucket import hls_publisher
from tests.support.delivery.hls_in_memory import HlsInMemory

from onair_encoder.publish.destination_publisher import DestinationPublisher
from onair_encoder.publish.hls import upload


async def stopped_while_behind(hls: HlsInMemory, *, vod: bool) -> DestinationPublisher:
    """One whose storage has taken nothing yet of three segments and the begin of a fourth."""
    hls.bucket.hold(lambda method, key: key.endswith(".ts"))
    publisher = await hls.publisher(hls.wanted(vod=vod))
    hls.programme.segments(3)
    await hls.bucket.until(lambda: ("PUT", key_of_first(hls)) in hls.bucket.requests, "it stores the first")
    publisher.destination.stop.set()
    await hls.bucket.until(lambda: not hls.programme.fan_out._subscribers, "it takes no more packets")
    return publisher


def key_of_first(hls: HlsInMemory) -> str:
    return next((key for _, key in hls.bucket.requests if key.endswith(".ts")), "none")


@pytest.mark.parametrize("vod", [True, False])
async def test_what_is_on_air_after_the_stop_is_not_stored_while_the_storage_is_behind(
    hls: HlsInMemory, vod: bool
) -> None:
    publisher = await stopped_while_behind(hls, vod=vod)
    hls.programme.segments(3)
    hls.bucket.release()
    await publisher.finish()
    await publisher.ended()
    stored = b"".join(hls.bucket.objects.values())
    assert b"second 6" in stored, "the segment that was being cut"
    assert not [second for second in range(7, 13) if b"second %d" % second in stored]
    assert len(hls.bucket.segments) == 4
    assert hls.bucket.ended


async def test_one_that_is_to_stop_before_it_begins_takes_nothing(hls: HlsInMemory) -> None:
    hls.programme.segments(1)
    publisher = hls_publisher(hls.wanted(), hls.programme.fan_out)
    publisher.destination.stop.set()
    await publisher.ended()
    assert not hls.bucket.objects


async def test_an_error_of_ours_while_the_rest_is_stored_costs_nothing_of_it_and_is_logged(
    hls: HlsInMemory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(upload, "RETRY_S", 0.001)
    publisher = await stopped_while_behind(hls, vod=True)
    # The first ends the session, the second the first attempt to store what it left
    errors = [RuntimeError("s3cret"), RuntimeError("s3cret")]
    hls.bucket.refuses = lambda method, key: errors.pop() if errors and key.endswith(".ts") else None
    hls.bucket.release()
    await publisher.finish()
    await publisher.ended()
    assert len(hls.bucket.segments) == 4
    assert hls.bucket.text("run.m3u8").endswith("#EXT-X-ENDLIST\n")
    assert publisher.destination.state.missing_s == 0.0
    said = capsys.readouterr().err
    assert said.count("hls.not-ended") == 1
    assert "RuntimeError" in said
    assert "s3cret" not in said
