"""Which changes of a destination take no new session, whatever its kind."""

from __future__ import annotations

from typing import Any

import pytest

from onair_crds.contract.program import ProgramDestination
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.rtmp.output import RtmpOutput
from onair_encoder.publish.supplied_destination import SuppliedDestination


@pytest.mark.parametrize(
    ("change", "keeps"),
    [
        ({"timeout_ms": 2000}, True),
        ({"generation": 2}, True),
        ({"uid": "uid-main"}, True),
        ({"url": "rtmp://b.example/live"}, False),
    ],
    ids=["timeout", "generation", "an operator of before named no uid", "address"],
)
def test_a_session_is_kept_by_what_does_not_change_the_stream(change: dict[str, Any], keeps: bool) -> None:
    before = ProgramDestination(id="main", type="RTMP", url="rtmp://a.example/live", generation=1)
    output = RtmpOutput(SuppliedDestination(before, FanOut(), lambda: None))
    assert output.keeps_session(before, before.model_copy(update=change)) is keeps
