"""The window in which a server is asked to acknowledge."""

from __future__ import annotations

import pytest

from onair_crds.contract.program import ProgramDestination
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.rtmp.output import RtmpOutput
from onair_encoder.publish.supplied_destination import SuppliedDestination


@pytest.mark.parametrize(
    ("bytes_per_s", "timeout_ms", "window"),
    [(80_000, 1000, 20_000), (80_000, 100, 2048), (500_000, 5000, 256 * 1024), (0, 5000, 2048)],
    ids=["a quarter of what comes within the timeout", "no less", "no more", "the bitrate is not known"],
)
def test_the_window_fits_the_timeout_four_times(bytes_per_s: int, timeout_ms: int, window: int) -> None:
    fan_out = FanOut()
    fan_out.nominal_bytes_per_s = bytes_per_s
    wanted = ProgramDestination(id="d", type="RTMP", url="rtmp://a.example/live", timeout_ms=timeout_ms)
    output = RtmpOutput(SuppliedDestination(wanted, fan_out, lambda: None))
    assert output._ack_window() == window
