"""The estimate that the first line of a command says."""

from __future__ import annotations

import re
from pathlib import Path

from onair_dev.graph import minutes, remaining_s
from onair_dev.plans import Facts, of

ROOT = Path(__file__).parents[3]
NOTHING = Facts(
    base=False,
    node_image=False,
    clients=False,
    node_programs=False,
    control_plane=False,
    servers=False,
    network_plugin=False,
    images=frozenset(),
    cluster=False,
)


def test_a_first_run_is_estimated_within_what_the_readme_says_of_it() -> None:
    said = re.search(r"The first `make demo` takes (\d+) to (\d+) minutes", (ROOT / "README.md").read_text())
    assert said
    least, most = map(int, said.groups())
    estimate_s = remaining_s(of("demo", NOTHING), (), {})
    assert least * 60 < estimate_s < most * 60
    assert minutes(estimate_s) == "about 12 minutes", "11.5 were measured on two cores"


def test_where_all_is_there_it_is_less_than_a_minute() -> None:
    assert remaining_s(of("demo", Facts()), (), {}) < 60
    assert remaining_s(of("test", Facts()), (), {}) < 60


def test_programs_that_are_missing_are_counted_where_their_image_is_there() -> None:
    known = Facts(clients=False, node_programs=False, control_plane=False, servers=False, cluster=False)
    assert minutes(remaining_s(of("demo", known), (), {})) == "about 8 minutes", "8.1 were measured"


def test_the_network_plugin_is_built_for_tests_of_the_cluster_alone() -> None:
    building = {
        what: any(task.name == "network plugin" for task in of(what, NOTHING))
        for what in ("demo", "up", "integration", "test", "tools")
    }
    assert building == {"demo": False, "up": False, "integration": False, "test": True, "tools": True}
