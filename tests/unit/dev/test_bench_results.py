"""Figures of benches: keys that a shell and a spreadsheet can take, and one table of two runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from onair_dev.bench_results import bound_of, compare, figure, keep, key_of, met


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("POST start → first packet (cold)", "post_start_to_first_packet_cold"),
        ("pod ÷ bare pipeline", "pod_per_bare_pipeline"),
        ("… by a child `ffmpeg -c copy` each (RTMP, CPU)", "by_a_child_ffmpeg_c_copy_each_rtmp_cpu"),
        ("CPU of the pod, 1280×720@30", "cpu_of_the_pod_1280x720_30"),
    ],
)
def test_a_key_is_ascii_without_quotes_colons_and_spaces(name: str, key: str) -> None:
    assert key_of(name) == key


def test_a_run_of_some_benches_keeps_the_others_figures(tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    for file, medians in ((before, (1.06, 5.0)), (after, (1.05, 6.0))):
        for name, median in zip(("pod ÷ bare pipeline", "events"), medians, strict=True):
            keep(figure(name, [median], "×", 1.08, None), file)
    keep(figure("events", [7.0], "×", 1.08, None), after)
    assert compare(before, after).splitlines()[2:] == [
        "| events | 5.000 | 7.000 | × | ≤ 1.08 |",
        "| pod ÷ bare pipeline | 1.060 | 1.050 | × | ≤ 1.08 |",
    ]


def test_a_bound_is_met_from_its_own_side() -> None:
    assert met(figure("a", [1.0, 3.0, 2.0], "s", 2.0, None)) is True
    assert met(figure("a", [1.0], "s", None, 2.0)) is False
    assert met(figure("a", [1.0], "s", None, None)) is None
    assert bound_of(figure("a", [1.0], "s", None, 0.6)) == "≥ 0.6"
