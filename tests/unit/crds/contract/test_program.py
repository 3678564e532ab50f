"""What operator and encoder say to each other is heard if the other one is of another version."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError
from tests.support.small_program import small_program

from onair_crds.contract.program import MAX_FAILED_LAYERS, EncoderStatus, Program, UnreadableDestination
from onair_crds.resources.enums import BroadcastError, ConnectState
from onair_crds.shapes import Document

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


def wire(*destinations: Document, **fields: object) -> str:
    """A programme as an operator of another version sends it."""
    return json.dumps({**json.loads(small_program().wire()), "destinations": destinations, **fields})


PUSH: Document = {"id": "push", "type": "RTMP", "url": "rtmp://a.example/live", "generation": 1}


@pytest.mark.parametrize(
    ("newer", "fields"),
    [
        ({"type": "WHIP"}, "type"),
        ({"type": {"kind": "WHIP"}, "url": ["https://w.example"]}, "type, url"),
        (
            {"type": "RTC", "rtc": {"provider": "other", "url": "wss://r", "room": "r", "identity": "i"}},
            "rtc.provider, rtc.token",
        ),
        ({"type": 1, "url": 1, "key": 1, "passphrase": 1}, "type, url, key"),
    ],
)
def test_a_destination_that_only_a_newer_version_knows_is_put_aside(newer: Document, fields: str) -> None:
    unknown = {"id": "new", "generation": 4, "uid": "u", "key": "s3cret", **newer}
    taken = Program.model_validate_json(wire(unknown, PUSH, stop=True))
    assert ([each.id for each in taken.destinations], taken.stop) == (["push"], True)
    why = f"the encoder is of another version and does not understand this destination's {fields}"
    aside = UnreadableDestination(id="new", generation=4, uid="u", error=why)
    assert taken.unreadable == [aside]
    assert Program.model_validate_json(taken.wire()) == taken, "after a restart of the agent, too"
    assert "s3cret" not in taken.wire()


@pytest.mark.parametrize(
    "broken",
    [
        wire({"id": 7, "type": "WHIP", "generation": 1}),
        wire({"type": "WHIP", "generation": 1}),
        wire({"id": "new", "type": "WHIP", "generation": "four"}),
        json.dumps({**json.loads(wire(PUSH)), "destinations": ["push"]}),
        json.dumps({**json.loads(wire(PUSH)), "destinations": {"id": "push"}}),
        wire({"id": "new", "type": "WHIP", "generation": 1}, unreadable="none"),
        "[]",
        wire(PUSH, video={**json.loads(small_program().wire())["video"], "quality": "ultra"}),
    ],
)
def test_what_is_of_the_whole_programme_or_of_nobody_is_refused(broken: str) -> None:
    with pytest.raises(ValidationError):
        Program.model_validate_json(broken)
