"""What nobody gets without a right, as something that can be tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple

from tests.support.rights.installation import Installation

Scenario = Callable[[Installation], Iterator[None]]
"""Prepares, and yields; sees without the right what fails, and yields; sees with it that this goes."""


class Need(NamedTuple):
    """Why a right is given."""

    lost: str
    """What there is not without it."""
    scenario: Scenario


def prove(installation: Installation, right: str, need: Need) -> None:
    """Takes a right away, sees its want, and gives it back.

    Raises:
        AssertionError: nothing was refused for want of it, or nobody noticed, or the right does not fix it.
    """
    scenario = need.scenario(installation)
    with closing(scenario):  # type: ignore[type-var]
        next(scenario)
        with installation.without(right):
            next(scenario)
            assert installation.refusals(), f"nothing was refused without {right}"
        assert list(scenario) == [], f"the scenario of {right} goes on"
