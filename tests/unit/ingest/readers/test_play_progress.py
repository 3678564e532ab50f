"""A stream is played again where it flows and nothing of it arrives, and not where something stands still."""

from __future__ import annotations

from onair_ingest.readers.play_progress import FIRST_MEDIA_LOOKS, STALLED_LOOKS, PlayProgress


def looks(progress: PlayProgress, most: int, *, grows: bool = True, has_media: bool = True) -> int:
    """How many looks find that nothing arrived, up to the one that finds it stalled."""
    for n in range(most):
        inbound_bytes = 1000 * (n + 1) if grows else 1000
        if progress.is_stalled(inbound_bytes, 7, has_media=has_media):
            return n
    return most


def test_a_stream_that_flows_and_does_not_arrive_is_stalled() -> None:
    assert looks(PlayProgress(), 100) == STALLED_LOOKS


def test_before_its_first_frame_it_waits_for_a_key_frame() -> None:
    assert looks(PlayProgress(), 100, has_media=False) == FIRST_MEDIA_LOOKS


def test_a_stream_that_does_not_grow_in_the_server_is_not_stalled() -> None:
    assert looks(PlayProgress(), 100, grows=False) == 100


def test_a_stream_that_the_server_does_not_tell_of_is_not_stalled() -> None:
    progress = PlayProgress()
    assert not any(
        progress.is_stalled(n if n % 2 else None, 7, has_media=True) for n in range(10 * STALLED_LOOKS)
    )


def test_what_arrives_begins_the_count_again() -> None:
    progress = PlayProgress()
    assert not any(
        progress.is_stalled(n, n // STALLED_LOOKS, has_media=True) for n in range(10 * STALLED_LOOKS)
    )
