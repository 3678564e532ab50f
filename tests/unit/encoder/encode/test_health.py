"""An encode that makes no progress is noticed, and failures in a row are counted."""

from __future__ import annotations

from onair_encoder.encode.health import FIRST_FRAME_TIMEOUT_S, FRAME_TIMEOUT_S, STEADY_S, EncodeHealth


class Encode:
    def __init__(self) -> None:
        self.now, self.frames = 100.0, 0
        self.health = EncodeHealth(lambda: self.now)
        self.health.started()

    def encodes(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now, self.frames = self.now + 1, self.frames + 30
            self.health.encoded(self.frames)
            assert not self.health.hangs

    def is_silent(self, seconds: float) -> None:
        """Reports without a new frame are no progress."""
        end = self.now + seconds
        while self.now < end:
            self.now += 0.5
            self.health.encoded(self.frames)


def test_one_that_encodes_nothing_more_hangs() -> None:
    encode = Encode()
    encode.encodes(60)
    encode.is_silent(FRAME_TIMEOUT_S)
    assert not encode.health.hangs
    encode.is_silent(0.5)
    assert encode.health.hangs


def test_one_that_never_encodes_hangs_too() -> None:
    encode = Encode()
    encode.is_silent(FIRST_FRAME_TIMEOUT_S)
    assert not encode.health.hangs
    encode.is_silent(0.5)
    assert encode.health.hangs


def test_what_does_not_run_does_not_hang() -> None:
    encode = Encode()
    encode.encodes(5)
    encode.health.ended(failed=True)
    encode.is_silent(60)
    assert not encode.health.hangs


def test_failures_in_a_row_are_counted_until_it_is_steady() -> None:
    encode = Encode()
    for failures in (1, 2, 3):
        encode.encodes(5)
        encode.health.ended(failed=True)
        encode.health.started()
        assert encode.health.failures == failures
    encode.encodes(STEADY_S - 1)
    assert encode.health.failures == 3
    encode.encodes(2)
    assert encode.health.failures == 0


def test_an_end_that_it_is_not_to_blame_for_is_no_failure() -> None:
    encode = Encode()
    encode.health.ended(failed=False)
    assert encode.health.failures == 0
