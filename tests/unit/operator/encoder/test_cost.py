"""Requests of an encoder pod."""

from __future__ import annotations

import pytest
from tests.support.worlds import SETTINGS, project

from onair_operator.encoder.cost import cost_of
from onair_operator.settings import CostSettings


@pytest.mark.parametrize(
    ("rendering", "cores"),
    [
        ({}, 0.75),
        ({"video": {"width": 1920, "height": 1080}}, 1.4375),
        ({"video": {"framerate": 60}}, 1.3),
        ({"complexity": 2}, 1.06),
        ({"complexity": -2}, 0.552),
        ({"quality": "High"}, 1.08),
    ],
)
def test_requests_follow_size_framerate_and_complexity(rendering: dict[str, object], cores: float) -> None:
    spec = project(rendering=rendering).spec
    assert cost_of(spec.rendering, SETTINGS.encoder.cost).cores == pytest.approx(cores, abs=0.01)


@pytest.mark.parametrize(
    ("table", "rendering", "limit"),
    [
        ({}, {}, 2000),
        ({}, {"video": {"width": 1920, "height": 1080, "framerate": 60}}, 5884),
        ({"browser_limit_millicores": 500}, {}, 1652),
        ({"browser_limit_factor": 0}, {}, None),
    ],
    ids=["at least", "by its request", "another least", "none"],
)
def test_the_browser_is_kept_from_taking_every_core(
    table: dict[str, float], rendering: dict[str, object], limit: int | None
) -> None:
    spec = project(rendering=rendering).spec
    assert cost_of(spec.rendering, CostSettings(**table)).browser_limit_millicores == limit


@pytest.mark.parametrize(
    ("rendering", "cpus"),
    [
        ({}, (1, 1)),
        ({"video": {"width": 1920, "height": 1080}}, (2, 1)),
        ({"video": {"width": 1920, "height": 1080, "framerate": 60}}, (3, 2)),
    ],
    ids=["720p30", "1080p30", "1080p60"],
)
def test_exclusive_cpus_are_whole_ones_and_all_that_containers_may_take(
    rendering: dict[str, object], cpus: tuple[int, int]
) -> None:
    spec = project(rendering=rendering).spec
    shared = cost_of(spec.rendering, CostSettings())
    cost = cost_of(spec.rendering, CostSettings(exclusive_cpus=True))
    assert (cost.browser_millicores, cost.encoder_millicores) == (cpus[0] * 1000, cpus[1] * 1000)
    assert cost.browser_limit_millicores == cost.browser_millicores
    assert cost.encoder_limit_millicores == cost.encoder_millicores
    assert cost.browser_memory_mib == shared.browser_memory_mib * shared.memory_limit_factor
    assert cost.encoder_memory_mib == shared.encoder_memory_mib * shared.memory_limit_factor
    assert cost.memory_limit_factor == 1
