"""What waits when the time to end is over: missing in a recording, and in nothing else."""

from __future__ import annotations

import pytest
from tests.support.delivery.hls_in_memory import HlsInMemory

from onair_crds.session_error import SessionError
from onair_encoder.publish.hls import drain
from onair_encoder.publish.hls.output import HlsOutput


@pytest.mark.parametrize(("vod", "missing_s"), [(True, 8.0), (False, 0.0)])
async def test_only_a_recording_lacks_what_could_not_be_stored(
    hls: HlsInMemory, monkeypatch: pytest.MonkeyPatch, vod: bool, missing_s: float
) -> None:
    for name in ("drain_s", "finish_s"):
        monkeypatch.setattr(HlsOutput, name, 0.5)
    monkeypatch.setattr(drain, "CLOSING_S", 0.1)
    away = SessionError("not available", permanent=True)
    hls.bucket.refuses = lambda method, key: away if key.endswith(".ts") else None
    publisher = await hls.publisher(hls.wanted(vod=vod))
    hls.programme.segments(4)
    await hls.bucket.until(lambda: publisher.destination.state.last_error, "an error")
    await publisher.finish()
    await publisher.ended()
    state = publisher.destination.state
    assert state.missing_s == pytest.approx(missing_s, abs=0.2)
    assert state.waiting_s == 0.0
