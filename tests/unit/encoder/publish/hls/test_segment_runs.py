"""Segments that are to be deleted one day, however many they are."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from onair_encoder.publish.hls.segment_name import SegmentName
from onair_encoder.publish.hls.segment_runs import MOST_RUNS, REMOVED_OF, SegmentRuns

NAMES = st.builds(
    SegmentName,
    st.sampled_from(["run-", "run-2-", "run_rec-"]),
    st.integers(0, 10**12),
    st.integers(0, 99),
    st.sampled_from(["a1", "b2"]),
)
RUNS = st.lists(st.tuples(NAMES, st.integers(1, 30)), max_size=5)
Run = tuple[SegmentName, int]


def of(runs: list[Run]) -> tuple[SegmentRuns, list[str]]:
    kept = SegmentRuns()
    kept.extend(runs)
    return kept, [str(first.later(by)) for first, count in runs for by in range(count)]


def all_of(runs: SegmentRuns) -> list[str]:
    return runs.oldest(len(runs))


@given(RUNS, st.integers(0, 40))
def test_they_are_remembered_in_lines_of_a_playlist(runs: list[Run], youngest: int) -> None:
    kept, names = of(runs)
    assert all_of(kept) == names
    lines = kept.lines(but_youngest=youngest)
    assert len(lines) <= len(runs)
    text = "\n".join(["#EXTM3U", *lines])
    assert all_of(SegmentRuns.kept(text)) == names[: max(0, len(names) - youngest)]


@given(RUNS, st.data())
def test_any_of_the_oldest_is_removed_and_the_youngest_are_dropped(
    runs: list[Run], data: st.DataObject
) -> None:
    kept, names = of(runs)
    dropped = data.draw(st.integers(0, 40))
    kept.drop_youngest(dropped)
    names = names[: max(0, len(names) - dropped)]
    for _ in range(min(5, len(names))):
        name = data.draw(st.sampled_from(names[:REMOVED_OF]))
        assert kept.remove(name)
        names.remove(name)
    assert (all_of(kept), len(kept)) == (names, len(names))
    assert not kept.remove("other.ts")
    assert all(name in kept for name in map(SegmentName.of, names) if name)
    assert SegmentName("other-", 1, 1, "a1") not in kept


def test_a_day_of_segments_that_may_not_be_deleted_takes_a_line() -> None:
    kept = SegmentRuns()
    for number in range(43_200):
        kept.append(SegmentName("run-", number, 1, "a1"))
    assert kept.lines(but_youngest=5) == ["#ONAIR-KEPT:run-00000000.1.a1.ts,43195"]


def test_of_too_many_writers_the_oldest_are_forgotten_and_counted() -> None:
    kept = SegmentRuns()
    for number, epoch in itertools.product(range(2), range(MOST_RUNS + 3)):
        kept.append(SegmentName("run-", 2 * epoch + number, epoch, "a1"))
    assert len(kept.lines()) == MOST_RUNS
    assert len(kept) + kept.forgotten == 2 * (MOST_RUNS + 3)


def test_comments_that_somebody_else_wrote_are_passed_over() -> None:
    text = "#ONAIR-KEPT:\n#ONAIR-KEPT:x,3\n#ONAIR-KEPT:run-00000001.ts,²\n#ONAIR-KEPT:run-00000001.ts,-1"
    assert len(SegmentRuns.kept(text)) == 0
    assert len(SegmentRuns.kept("#ONAIR-KEPT:run-00000001.ts,999999999999")) == 100_000
