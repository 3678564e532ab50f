"""Configurations and access units are found in RTMP messages, and what is hostile is refused."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_crds.contract.access_units import UnitKind, split_config
from onair_ingest.readers.codecs import AUDIO, VIDEO, Unsupported, audio_config, unit_of

AVC_RECORD = bytes.fromhex("0164001fffe1000467640000" + "01000468ee3c80")


@pytest.mark.parametrize(
    ("specific", "codec", "rate", "channels"),
    [
        ("1190", "mp4a.40.2", 48_000, 2),
        ("1208", "mp4a.40.2", 44_100, 1),
        ("2b118800", "mp4a.40.5", 48_000, 2),
        ("eb098800", "mp4a.40.29", 48_000, 2),
        ("17805dc020", "mp4a.40.2", 48_000, 4),
    ],
)
def test_an_audio_configuration_says_what_is_heard(
    specific: str, codec: str, rate: int, channels: int
) -> None:
    config = audio_config(bytes.fromhex(specific))
    assert (config.codec, config.sample_rate, config.channels) == (codec, rate, channels)


def test_a_video_configuration_names_its_codec() -> None:
    unit = unit_of(VIDEO, b"\x17\0\0\0\0" + AVC_RECORD)
    assert unit
    assert unit.kind is UnitKind.VIDEO_CONFIG
    assert split_config(unit.payload) == (b'{"codec":"avc1.64001f"}', AVC_RECORD)


def test_a_picture_that_is_shown_later_than_decoded_says_so() -> None:
    unit = unit_of(VIDEO, b"\x27\x01\0\0\x43" + b"\0\0\0\1\x41")
    assert unit
    assert (unit.kind, unit.key, unit.composition_ms) == (UnitKind.VIDEO, False, 67)
    early = unit_of(VIDEO, b"\x17\x01\xff\xff\xdf" + b"\0\0\0\1\x65")
    assert early
    assert (early.key, early.composition_ms) == (True, -33)


@pytest.mark.parametrize(
    ("type_", "body"), [(VIDEO, b"\x90hvc1\0"), (VIDEO, b"\x12\0\0\0\0\0"), (AUDIO, b"\x2f\xff\xfb")]
)
def test_codecs_that_pages_do_not_decode_are_told_apart(type_: int, body: bytes) -> None:
    with pytest.raises(Unsupported):
        unit_of(type_, body)


def test_the_end_of_a_sequence_is_no_picture() -> None:
    assert unit_of(VIDEO, b"\x17\x02\0\0\0") is None
    assert unit_of(VIDEO, b"\x17") is None
    assert unit_of(AUDIO, b"") is None


@given(st.sampled_from([AUDIO, VIDEO]), st.binary(max_size=40))
def test_no_bytes_do_harm(type_: int, body: bytes) -> None:
    with contextlib.suppress(Unsupported, ValueError):
        unit_of(type_, body)
