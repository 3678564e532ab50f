"""A soak's bounds find growth and drift, in a minute and in an hour."""

from __future__ import annotations

import pytest
from tests.support.soak.bounds import Offset, Sample, assert_in_sync, assert_steady

STEADY = ("steady", "archive")


def samples(
    length_s: int, encoder_mb_per_h: float = 0.0, flaps: float = 1.0, fps: float = 30.0
) -> list[Sample]:
    """Of a run in which the flapping destination reconnects every 20 s, times `flaps`."""
    return [
        Sample(
            at_s=float(at),
            encoder_mb=100 + encoder_mb_per_h * at / 3600,
            browser_mb=240.0,
            agent_files=40,
            frames=at * fps,
            sessions={"steady": 1, "archive": 1, "flaps": 1 + flaps * (at // 20)},
            connected={},
        )
        for at in range(0, length_s + 1, 5)
    ]


@pytest.mark.parametrize("length_s", [60, 300, 3600])
def test_a_steady_run_passes(length_s: int) -> None:
    assert_steady(samples(length_s), STEADY, "flaps")


@pytest.mark.parametrize(("length_s", "encoder_mb_per_h"), [(60, 1500.0), (300, 600.0), (3600, 120.0)])
def test_growth_fails(length_s: int, encoder_mb_per_h: float) -> None:
    with pytest.raises(AssertionError, match="encoder_mb grows"):
        assert_steady(samples(length_s, encoder_mb_per_h), STEADY, "flaps")


@pytest.mark.parametrize("length_s", [60, 3600])
def test_a_flapping_destination_that_stays_away_fails(length_s: int) -> None:
    with pytest.raises(AssertionError, match="reconnects"):
        assert_steady(samples(length_s, flaps=0.0), STEADY, "flaps")


@pytest.mark.parametrize("length_s", [60, 3600])
def test_frames_that_are_missing_fail(length_s: int) -> None:
    with pytest.raises(AssertionError, match="frames a second"):
        assert_steady(samples(length_s, fps=28.0), STEADY, "flaps")


def drifting(length_s: int, total_ms: float, every_s: int) -> list[Offset]:
    return [Offset(float(at), 30 + total_ms * at / length_s) for at in range(every_s, length_s + 1, every_s)]


@pytest.mark.parametrize(
    ("length_s", "every_s", "allowed_ms", "refused_ms"),
    [
        (60, 10, 50.0, 70.0),
        (3600, 60, 50.0, 70.0),
    ],
)
def test_drift_fails(length_s: int, every_s: int, allowed_ms: float, refused_ms: float) -> None:
    assert_in_sync(drifting(length_s, allowed_ms, every_s), length_s)
    with pytest.raises(AssertionError, match="audio and video"):
        assert_in_sync(drifting(length_s, refused_ms, every_s), length_s)


def test_audio_that_is_apart_fails() -> None:
    with pytest.raises(AssertionError, match="are apart"):
        assert_in_sync([Offset(float(at), 130.0) for at in range(10, 61, 10)], 60)
