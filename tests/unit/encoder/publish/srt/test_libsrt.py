"""What libsrt's statistics say."""

from __future__ import annotations

import struct

import pytest

from onair_encoder.publish.srt.libsrt import PAYLOAD_BYTES, SendStatistics


@pytest.mark.parametrize(("drops", "packets"), [(0, 0), (1, 1), (1, 40), (7, 61), (61, 61)])
def test_every_packet_that_libsrt_dropped_counts(drops: int, packets: int) -> None:
    """libsrt 1.5.1 counts those that it drops at once as one. Others would seem to be acknowledged."""
    statistics = bytearray(1024)
    struct.pack_into("i", statistics, 64, drops)
    struct.pack_into("Q", statistics, 112, packets * PAYLOAD_BYTES + drops * 44)
    assert SendStatistics(bytes(statistics)).dropped == packets
