"""What a start and a stop make of a project's spec."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.owned_project import HOST, IDS, cluster_with
from tests.support.recording_writer import RecordingWriter

from onair_api.live.broadcast.service import Broadcasts

PROJECT: dict[str, Any] = {
    "metadata": {"a": [[]]},
    "webrtc": {"hosted": {"enabled": True}},
    "room": {"state": "Open", "opening": 1},
    "broadcast": {"state": "Running", "id": "b1"},
}


@pytest.mark.parametrize("room", [True, False])
async def test_a_start_and_a_stop_leave_the_stored_metadata(room: bool) -> None:
    cluster, project = cluster_with(PROJECT)
    writer: Any = RecordingWriter()
    encoders: Any = None
    broadcasts = Broadcasts(cluster, writer, encoders)
    await broadcasts.start(HOST, IDS, {"webrtcStart": room})
    await broadcasts.stop(HOST, IDS, {"webrtcStop": room})
    assert [wanted["broadcast"]["state"] for wanted in writer.wanted] == ["Running", "Stopped"]
    assert [wanted["room"]["state"] for wanted in writer.wanted] == ["Open", "Closed" if room else "Open"]
    assert all(wanted["metadata"] is project.spec["metadata"] for wanted in writer.wanted)
