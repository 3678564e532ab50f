"""Names of segments."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from onair_encoder.publish.hls.segment_name import SegmentName

NAMES = st.builds(
    SegmentName,
    st.sampled_from(["run-", "run-2-", "run_rec-"]),
    st.integers(0, 10**12),
    st.none() | st.integers(0, 99),
    st.sampled_from(["a1", "b2"]),
).map(lambda name: SegmentName(name.prefix, name.number) if name.epoch is None else name)


@given(NAMES)
def test_a_name_is_parsed_as_it_was_given(name: SegmentName) -> None:
    assert SegmentName.of(str(name)) == name


def test_other_names_are_none_of_ours() -> None:
    for name in (
        "",
        "index.m3u8",
        "x.ts",
        "run-1.ts",
        "run-00000001.ts/../x",
        "run-00000001.1.ts",
        "../run-00000001.ts",
    ):
        assert SegmentName.of(name) is None
