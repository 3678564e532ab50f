"""Which tests share the machine with others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.side_by_side import FilesSideBySide, part_of, place_of, runs_alone

LIGHT = [
    f"tests/integration/api/live/test_{each}.py" for each in ("source", "project", "collection", "broadcast")
]
COMPOSITOR = "tests/integration/web/compositor"
MEDIA, MEDIA_2 = f"{COMPOSITOR}/test_geometry.py", f"{COMPOSITOR}/test_sources.py"
SMALL = "tests/integration/ingest/test_streams_pushed.py"
UNIT = [f"tests/unit/support/test_{each}.py" for each in ("docker", "side_by_side", "soak_bounds")]
ENCODER = "tests/integration/encoder/pod/test_show.py"
SHOW = "tests/e2e/test_lifecycle.py"
ALONE = "tests/e2e/alone/test_faults.py"


@pytest.mark.parametrize(
    ("file", "part", "alone"),
    [
        (UNIT[0], "unit", False),
        (LIGHT[0], "integration", False),
        (MEDIA, "integration with media", False),
        (ENCODER, "integration with media", False),
        ("tests/soak/test_soak.py", "soak", True),
        (SHOW, "e2e", False),
        (ALONE, "e2e", True),
    ],
)
def test_what_takes_from_the_others_has_the_machine_to_itself(file: str, part: str, alone: bool) -> None:
    assert part_of(file) == part
    assert runs_alone(file) is alone


def test_whole_encoders_come_after_what_would_share_the_machine_with_them() -> None:
    assert sorted([ALONE, ENCODER, MEDIA, MEDIA_2], key=place_of) == [MEDIA, MEDIA_2, ENCODER, ALONE]


class Worker:
    """One that notes what it is given; it runs nothing."""

    def __init__(self, name: str, tests: list[str]) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.shutting_down = False
        self.given: list[str] = []
        self._tests = tests

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += [self._tests[each] for each in indices]

    def shutdown(self) -> None:
        self.shutting_down = True


def given(workers: int, *files: str, slow: bool = False) -> list[Worker]:
    """Workers that have run tests of these files, three each, in turns to the end."""
    tests = [f"{file}::test_{number}" for file in files for number in range(3)]
    option = SimpleNamespace(loadscopereorder=False)
    config: Any = SimpleNamespace(option=option, getvalue=lambda _: [f"{workers}*popen"])
    scheduler, made = (
        FilesSideBySide(config, is_slow=lambda: slow),
        [Worker(f"gw{each}", tests) for each in range(workers)],
    )
    nodes: list[Any] = [*made]
    for node in nodes:
        scheduler.add_node(node)
        scheduler.add_node_collection(node, tests)
    scheduler.schedule()
    for turn in range(len(tests)):
        for node in nodes:
            if turn < len(node.given):
                scheduler.mark_test_complete(node, tests.index(node.given[turn]))
    assert scheduler.tests_finished
    assert sorted(test for each in made for test in each.given) == sorted(tests)
    return made


def files_of(worker: Worker) -> list[str]:
    return list(dict.fromkeys(test.split("::")[0] for test in worker.given))


def test_a_third_worker_takes_what_handles_no_media_from_the_end_of_a_part_and_then_ends() -> None:
    first, second, third = given(3, *UNIT, *LIGHT, MEDIA, ALONE)
    assert files_of(third) == [UNIT[2], LIGHT[3]]
    assert third.shutting_down
    assert sorted(files_of(first) + files_of(second)) == sorted((*UNIT[:2], *LIGHT[:3], MEDIA, ALONE))


def test_a_third_worker_takes_small_media_beside_two_that_have_browsers() -> None:
    *_, third = given(3, MEDIA, MEDIA_2, SMALL, ALONE)
    assert files_of(third) == [SMALL]


def test_the_first_two_leave_small_media_to_a_third_while_there_is_large() -> None:
    small = [SMALL, *(f"tests/integration/ingest/test_{each}.py" for each in ("rtmps", "faults", "pulls"))]
    first, second, third = given(3, *small, MEDIA, MEDIA_2, ENCODER)
    assert {files_of(first)[0], files_of(second)[0]} == {MEDIA, MEDIA_2}
    assert files_of(third)[0] == small[-1]
    assert all(small[0] not in files_of(each)[:1] for each in (first, second))


def test_a_third_worker_has_nothing_to_do_where_all_is_large() -> None:
    *_, third = given(3, MEDIA, MEDIA_2, SHOW, ALONE)
    assert third.given == []
    assert third.shutting_down


def test_a_slow_machine_has_one_worker_with_large_media_and_one_with_small() -> None:
    first, second, third = given(
        3, LIGHT[0], LIGHT[1], LIGHT[2], SMALL, MEDIA, MEDIA_2, SHOW, ALONE, slow=True
    )
    assert {MEDIA, MEDIA_2, SHOW, ALONE} <= {*files_of(first)}
    assert SMALL in files_of(second)
    assert {*files_of(third)} <= {*LIGHT}


def test_two_workers_share_all() -> None:
    assert all(worker.given for worker in given(2, LIGHT[0], MEDIA, ALONE))
