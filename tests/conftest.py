"""For all tests: order by what they need, how long each part took, which programs they may start."""

from __future__ import annotations

import os
import time
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings
from tests.support.started_programs import StartedPrograms

from onair_dev.required_programs import BY_NAME

# A machine that is busy makes an example slow, and no test wrong: time is measured by the benches
# In CI the same examples each time; `make fuzz` and everyday runs look for new ones
settings.register_profile(
    "onair",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
)
settings.load_profile("onair")

PARTS = ("unit", "integration", "integration with media", "soak", "e2e", "bench")
STARTED = StartedPrograms()
PYTHON = {"python", "python3", "python3.11", "python3.12", "python3.13"}
TIMES = pytest.StashKey[dict[str, list[float]]]()
COUNTS = pytest.StashKey[Counter[str]]()


def part_of(item: pytest.Item) -> str:
    """The part of the tests that one belongs to: its top folder, and whether it handles media."""
    top = item.path.relative_to(item.config.rootpath / "tests").parts[0]
    return "integration with media" if top == "integration" and item.get_closest_marker("media") else top


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What needs least comes first; within a part the order stays."""
    items.sort(key=lambda item: PARTS.index(part_of(item)))
    config.stash[COUNTS] = Counter(map(part_of, items))
    config.stash[TIMES] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> object:
    """Says which part begins, and measures it."""
    part, times = part_of(item), item.config.stash[TIMES]
    if part not in times:
        times[part] = [time.monotonic(), 0.0]
        reporter = item.config.pluginmanager.getplugin("terminalreporter")
        reporter.ensure_newline()
        reporter.write_line(f"{part}: {item.config.stash[COUNTS][part]} tests")
    result = yield
    times[part][1] = time.monotonic()
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a run in which a program was started that is not in the list of `onair_dev.required_programs`."""
    if unlisted() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """How long each part took, and what it should not have started."""
    for part, (began, ended) in config.stash.get(TIMES, {}).items():
        count, duration_s = config.stash[COUNTS][part], ended - began
        terminalreporter.write_line(
            f"{part:<24} {count:>5} tests  {duration_s // 60:3.0f} min {duration_s % 60:2.0f} s"
        )
    if names := unlisted():
        terminalreporter.write_line(
            f"FAILED: started, and not in dev/onair_dev/required_programs.py: {names}"
        )


def unlisted() -> list[str]:
    """Programs that were started and are not in the list; those of our own .venv and of tests are."""
    return sorted(STARTED.names - BY_NAME.keys() - PYTHON)
