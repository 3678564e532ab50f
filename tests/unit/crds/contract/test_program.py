"""What operator and encoder say to each other is heard if the other one is of another version."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from onair_crds.contract.program import MAX_FAILED_LAYERS, EncoderStatus
from onair_crds.resources.enums import BroadcastError, ConnectState

DESTINATION = {"id": "main", "since": "2026-01-02T03:04:05Z"}


def test_what_only_a_newer_encoder_says_leaves_it_on_air() -> None:
    status = EncoderStatus.model_validate(
        {
            "phase": "rehearsing",
            "error": "Evicted",
            "destinations": [{**DESTINATION, "connect": "Probing", "bytesSent": 7}],
            "frames": 9,
        }
    )
    assert (status.phase, status.error, status.frames) == ("running", BroadcastError.INTERNAL, 9)
    assert [(each.connect, each.bytes_sent) for each in status.destinations] == [
        (ConnectState.DISCONNECTED, 7)
    ]


def test_known_names_stay() -> None:
    status = EncoderStatus.model_validate(
        {
            "phase": "finished",
            "error": "DurationExceeded",
            "destinations": [{**DESTINATION, "connect": "Connected"}],
        }
    )
    assert (status.phase, status.error) == ("finished", BroadcastError.DURATION_EXCEEDED)
    assert status.destinations[0].connect is ConnectState.CONNECTED
    assert EncoderStatus.model_validate({"phase": "idle"}).error is None


@pytest.mark.parametrize("phase", [None, 7, ["running"], {}])
def test_what_is_no_name_is_refused(phase: object) -> None:
    with pytest.raises(ValidationError):
        EncoderStatus.model_validate({"phase": phase})


def test_more_failed_layers_than_are_told_are_cut_and_the_rest_is_heard() -> None:
    layers = [{"layout": "main", "layer": str(number), "reason": "r"} for number in range(30)]
    status = EncoderStatus.model_validate({"phase": "running", "failedLayers": layers, "frames": 9})
    assert [each.layer for each in status.failed_layers] == [str(n) for n in range(MAX_FAILED_LAYERS)]
    assert status.frames == 9
    with pytest.raises(ValidationError):
        EncoderStatus.model_validate({"phase": "running", "failedLayers": {"layer": "a"}})
