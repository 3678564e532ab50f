"""Ids of earlier runs, as a project's status remembers them."""

from __future__ import annotations

from onair_crds.contract.runs import fingerprint, was_used, with_used
from onair_crds.resources.project import MAX_USED_RUNS, ProjectStatus


def test_an_id_is_remembered_once_and_recognized() -> None:
    used = with_used(with_used(with_used([], "a"), "b"), "a")
    assert used == [fingerprint("b"), fingerprint("a")]
    assert was_used("a", used)
    assert not was_used("c", used)


def test_a_thousand_runs_are_remembered_in_little_room() -> None:
    used: list[str] = []
    for number in range(MAX_USED_RUNS + 1):
        used = with_used(used, f"run-{number}")
    assert len(used) == MAX_USED_RUNS
    assert not was_used("run-0", used)
    assert was_used("run-1", used)
    status = ProjectStatus(used=used)
    assert len(status.model_dump_json()) < 16_000
