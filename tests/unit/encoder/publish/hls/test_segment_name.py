"""Names of segments, and the comments that remember those a playlist no longer names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from onair_encoder.publish.hls.segment_name import SegmentName, kept_lines, kept_names

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


@given(st.lists(st.tuples(NAMES, st.integers(1, 30)), max_size=5))
def test_kept_segments_are_remembered(runs: list[tuple[SegmentName, int]]) -> None:
    names = [str(first.later(by)) for first, count in runs for by in range(count)]
    lines = kept_lines(names)
    assert len(lines) <= len(runs)
    assert list(kept_names("\n".join(["#EXTM3U", *lines]))) == names


def test_comments_that_somebody_else_wrote_are_passed_over() -> None:
    text = "#ONAIR-KEPT:\n#ONAIR-KEPT:x,3\n#ONAIR-KEPT:run-00000001.ts,²\n#ONAIR-KEPT:run-00000001.ts,-1"
    assert list(kept_names(text)) == []
    assert len(list(kept_names("#ONAIR-KEPT:run-00000001.ts,999999999999"))) == 100_000
