"""What comes after a storage was away for longer than a window may be behind."""

from __future__ import annotations

from tests.support.delivery.hls_in_memory import HlsInMemory

from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.live_window import LEAST_SPOOL_S
from onair_encoder.publish.hls.output import HlsOutput


async def test_no_viewer_is_shown_what_was_on_air_when_the_storage_went_away(hls: HlsInMemory) -> None:
    bucket = hls.bucket
    away = SessionError("not available", permanent=True)
    bucket.refuses = lambda method, key: away if key.endswith(".ts") else None
    publisher = await hls.publisher(hls.wanted(vod=False, file_count=200))
    hls.programme.segments(1)
    await bucket.until(lambda: publisher.destination.state.last_error, "an error")
    output = publisher._output
    assert isinstance(output, HlsOutput)
    assert output._storing
    hls.programme.segments(round(LEAST_SPOOL_S))
    await output._storing._spool_writer._cuts.join()
    bucket.refuses = lambda method, key: None
    publisher.retry_now()
    await bucket.until(lambda: publisher.destination.is_connected, "connected")
    await publisher.finish()
    stored = b"".join(bucket.objects.values())
    assert b"second 0" not in stored
    assert b"second 118" in stored


async def test_what_waits_is_counted_between_two_attempts_too(hls: HlsInMemory) -> None:
    bucket = hls.bucket
    away = SessionError("not available", permanent=True)
    bucket.refuses = lambda method, key: away
    publisher = await hls.publisher(hls.wanted(vod=True))
    hls.programme.segments(1)
    await bucket.until(lambda: publisher.destination.state.last_error, "an error")
    attempts = publisher.destination.state.attempts
    hls.programme.segments(3)
    await bucket.until(lambda: publisher.destination.state.waiting_s > 3, "the seconds that wait")
    assert publisher.destination.state.attempts == attempts
    assert publisher.destination.counters.queued_bytes
