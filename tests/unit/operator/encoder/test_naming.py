"""Names of encoder pods."""

from __future__ import annotations

import itertools

from onair_operator.encoder.naming import pod_name


def test_an_id_without_dashes_is_in_the_name_as_it_is() -> None:
    assert pod_name("my-show", "first", 2) == "my-show-first-2"


def test_no_two_runs_have_pods_of_one_name() -> None:
    words = [word for n in (1, 3, 4, 5) for word in map("".join, itertools.product("a-1", repeat=n))]
    ids = [word for word in words if not word.startswith("-") and not word.endswith("-")]
    runs = list(itertools.product(ids, ids, (1, 11)))
    assert len({pod_name(*run) for run in runs}) == len(runs)
