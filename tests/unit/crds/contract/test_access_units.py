"""Records are decoded to what they were encoded from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_crds.contract.access_units import (
    AudioConfig,
    Record,
    RecordError,
    UnitKind,
    config_payload,
    decode,
    split_config,
)

TIMES = st.integers(-(2**63), 2**63 - 1)


@given(st.sampled_from(UnitKind), TIMES, TIMES, st.binary(max_size=50), st.booleans(), st.booleans())
def test_a_record_is_what_it_was(
    kind: UnitKind, pts: int, dts: int, payload: bytes, key: bool, gap: bool
) -> None:
    record = Record(kind, pts, dts, payload, key, gap)
    assert decode(record.encode()) == record


def test_the_header_is_as_documented() -> None:
    record = Record(UnitKind.VIDEO, 66_667, -1, b"au", key=True)
    assert record.encode().hex() == "0301000000000000" + "0001046b" + "ffffffffffffffff" + b"au".hex()


@pytest.mark.parametrize("data", [b"", b"\x03\x01", b"\x09" + bytes(19)])
def test_what_is_no_record_is_refused(data: bytes) -> None:
    with pytest.raises(RecordError):
        decode(data)


def test_a_configuration_carries_what_webcodecs_asks_for() -> None:
    payload = config_payload(AudioConfig(codec="mp4a.40.2", sample_rate=44_100, channels=1), b"\x12\x08")
    text, description = split_config(payload)
    assert AudioConfig.model_validate_json(text).sample_rate == 44_100
    assert b'"sampleRate":44100' in text
    assert description == b"\x12\x08"
