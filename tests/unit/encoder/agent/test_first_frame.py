"""A programme is on air with the first key frame after its page is shown, whatever the time of day."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.clock_pair import ClockPair
from tests.support.media.packets import AVC_HEADER, KEY

from onair_crds.contract.times import format_time
from onair_crds.media.flv import VIDEO, Packet
from onair_encoder.agent import first_frame as first_frame_module
from onair_encoder.agent.first_frame import FirstFrame
from onair_encoder.media import fan_out as fan_out_module
from onair_encoder.media.fan_out import FanOut


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> ClockPair:
    clocks = ClockPair()
    for module in (first_frame_module, fan_out_module):
        monkeypatch.setattr(module, "time", clocks)
    return clocks


@pytest.mark.parametrize("step_s", [0.0, -3600.0, 3600.0])
def test_a_wall_clock_that_is_set_neither_keeps_it_from_air_nor_puts_it_there(
    clocks: ClockPair, step_s: float
) -> None:
    fan_out = FanOut()
    page, switch = SimpleNamespace(shown=False), SimpleNamespace(on_slate=False)
    encode_progress = SimpleNamespace(now=SimpleNamespace(frames=30))
    first_frame = FirstFrame(*cast(Any, (page, switch, fan_out, encode_progress)))
    first_frame.expect(20_000)

    def keyframe(time_ms: int) -> None:
        fan_out.put(Packet(VIDEO, time_ms, KEY))

    fan_out.put(Packet(VIDEO, 0, AVC_HEADER))
    keyframe(1)
    first_at = clocks.time()
    clocks.go_on(1)
    assert not first_frame.seen(), "its page is not shown yet"
    clocks.set_wall(step_s / 2)
    page.shown = True
    assert not first_frame.seen(), "that key frame was taken before"
    clocks.set_wall(step_s / 2)
    clocks.go_on(1)
    assert not first_frame.seen()
    keyframe(2000)
    assert first_frame.seen()
    assert first_frame.at == format_time(dt.datetime.fromtimestamp(first_at, dt.UTC))
