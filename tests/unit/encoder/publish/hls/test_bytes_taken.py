"""Bytes that a storage takes are movement, though nothing is stored yet; sent again they are none."""

from __future__ import annotations

from onair_encoder.publish.hls.bytes_taken import BytesTaken


def test_what_is_sent_again_after_a_failure_counts_from_where_it_had_come() -> None:
    taken = BytesTaken()
    for upto in (10, 30, 5, 20, 30, 35):
        taken.note("one.ts", 100, upto)
    assert taken.total == 35


def test_a_storage_that_takes_all_of_everything_and_refuses_it_moves_nothing_for_long() -> None:
    taken = BytesTaken()
    for _ in range(5):
        taken.note("run.m3u8", 50, 50)
        taken.note("index.m3u8", 50, 50)
    assert taken.total == 100


def test_what_is_stored_after_a_segment_counts_anew() -> None:
    taken = BytesTaken()
    taken.note("run.m3u8", 50, 50)
    taken.stored()
    taken.note("run.m3u8", 50, 20)
    assert taken.total == 70


def test_a_head_that_is_yet_to_be_acknowledged_is_nothing() -> None:
    taken = BytesTaken()
    taken.note("one.ts", 100, -300)
    assert taken.total == 0
