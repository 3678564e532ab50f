"""The estimate that the first line of a command says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onair_dev.graph import minutes, remaining_s
from onair_dev.plans import Facts, builds_cluster_tools, of

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
    rooms=False,
)


def test_a_first_run_is_estimated_within_what_the_readme_says_of_it() -> None:
    said = re.search(r"The first `make demo` takes (\d+) to (\d+) minutes", (ROOT / "README.md").read_text())
    assert said
    least, most = map(int, said.groups())
    estimate_s = remaining_s(of("demo", NOTHING), (), {})
    assert least * 60 < estimate_s < most * 60
    assert minutes(estimate_s) == "about 10 minutes", "without the room server"


def test_where_all_is_there_it_is_less_than_a_minute() -> None:
    assert remaining_s(of("demo", Facts()), (), {}) < 60
    assert remaining_s(of("test", Facts()), (), {}) < 60


def test_programs_that_are_missing_are_counted_where_their_image_is_there() -> None:
    known = Facts(clients=False, node_programs=False, control_plane=False, servers=False, cluster=False)
    assert minutes(remaining_s(of("demo", known), (), {})) == "about 8 minutes", "8.1 were measured"


def test_the_first_demo_leaves_the_room_server_out_and_no_other_command_does() -> None:
    built = {
        what: any(task.name == "image livekit" for task in of(what, NOTHING))
        for what in ("demo", "up", "images", "test", "bench")
    }
    assert built == {"demo": False, "up": True, "images": True, "test": True, "bench": True}
    pushed = next(task.needs for task in of("demo", NOTHING) if task.name == "push")
    assert "image livekit" not in pushed
    assert "image api" in pushed


def test_a_demo_leaves_the_room_server_of_a_cluster_that_has_it() -> None:
    pruned, built, neither = (
        "image livekit" in {task.name for task in of("demo", Facts(images=images, rooms=rooms))}
        for images, rooms in ((frozenset(), True), (frozenset({"livekit"}), False), (frozenset(), False))
    )
    assert (pruned, built, neither) == (True, True, False)


def test_the_network_plugin_is_built_for_tests_of_the_cluster_alone() -> None:
    building = {
        what: any(task.name == "network plugin" for task in of(what, NOTHING))
        for what in ("demo", "up", "integration", "test", "tools")
    }
    assert building == {"demo": False, "up": False, "integration": False, "test": True, "tools": True}


@pytest.mark.parametrize("what", ["test", "integration", "soak", "bench", "tools"])
def test_the_room_server_is_built_by_one_task_at_a_time(what: str) -> None:
    """For its image and for tests: two builds of one program would take each other's draft."""
    servers = next(task for task in of(what, NOTHING) if task.name == "servers")
    assert "image livekit" in servers.needs
    assert any(task.name == "image livekit" for task in of(what, NOTHING))


def test_only_commands_that_build_the_clusters_programs_discard_old_ones() -> None:
    """`make images` would leave a cluster without its kubectl."""
    commands = ("images", "refresh", "tools", "integration", "soak", "test", "bench", "up", "demo")
    assert [each for each in commands if not builds_cluster_tools(each)] == ["images", "refresh"]
