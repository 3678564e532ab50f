"""For all tests: order by what they need, how long each part took, which programs they may start."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, settings
from tests.support.cluster_rest import ClusterRest
from tests.support.machine_speed import failed_as_it_is_slow, is_slow
from tests.support.side_by_side import (
    WITH_MEDIA,
    FilesSideBySide,
    ShareOfTheMachine,
    file_of,
    is_worker,
    part_of,
    place_of,
)
from tests.support.started_programs import StartedPrograms
from tests.support.time_limit import end_in_time
from xdist.workermanage import WorkerController

from onair_dev import cpu_group
from onair_dev.required_programs import BY_NAME

# A machine that is busy makes an example slow, and no test wrong: time is measured by the benches
# In CI the same examples each time; `make fuzz` and everyday runs look for new ones
settings.register_profile(
    "onair",
    deadline=None,
    max_examples=5000 if "ONAIR_FUZZ_S" in os.environ else 100,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
)
settings.load_profile("onair")

LINE = 300
"""Characters of what is said of a failure as it happens."""
PARTS = ("unit", "integration", WITH_MEDIA, "e2e", "soak", "bench")
SHARE = ShareOfTheMachine()
STARTED = StartedPrograms()
PYTHON = {"python", "python3", "python3.11", "python3.12", "python3.13", "uname"}
"""Python itself, and what its `platform.platform()` starts."""
TIMES = pytest.StashKey[dict[str, list[float]]]()
COUNTS = pytest.StashKey[Counter[str]]()
IN_REAL_TIME = {"integration", WITH_MEDIA, "e2e", "soak"}
AGAIN_WHERE_SLOW = pytest.mark.flaky(reruns=2, reruns_delay=20, condition=failed_as_it_is_slow)
"""What failed while a core was too slow for real time, and nothing else: the run reports each of them."""


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TIMES] = {}
    config.stash[COUNTS] = Counter()
    gc.disable()  # what is imported and collected stays


def pytest_collection_finish() -> None:
    """Leaves modules and tests out of collections of garbage, which would take 0.3 s each."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What needs least comes first, and what runs alone last; the order of the others stays."""
    items.sort(key=lambda item: _place(file_of(item.nodeid)))
    for item in items:
        if part_of(file_of(item.nodeid)) in IN_REAL_TIME:
            item.add_marker(AGAIN_WHERE_SLOW)
    count(config, (item.nodeid for item in items))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FilesSideBySide:
    """Files apart, so that a file's fixtures are set up once."""
    return FilesSideBySide(config, log, is_slow=is_slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: WorkerController, ids: list[str]) -> None:
    """Counts the tests of each part where workers collect them."""
    count(node.config, ids)


def _place(file: str) -> tuple[int, bool, bool]:
    return PARTS.index(part_of(file)), *place_of(file)


def count(config: pytest.Config, nodeids: Iterable[str]) -> None:
    config.stash[COUNTS] = Counter(part_of(file_of(nodeid)) for nodeid in nodeids)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    SHARE.take(item)
    if part_of(file_of(item.nodeid)) == "e2e":
        cpu_group.join()


class PartProgress:
    """Says which part begins, measures it, has the cluster rest meanwhile; in the process that reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._rest = ClusterRest()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        part, times = part_of(file_of(report.nodeid)), self._config.stash[TIMES]
        if part not in times:
            times[part] = [report.start, report.stop]
            reporter = self._config.pluginmanager.getplugin("terminalreporter")
            reporter.ensure_newline()
            before = "\n" if self._config.getoption("numprocesses", None) else ""  # after its dots
            reporter.write_line(f"{before}{part}: {self._config.stash[COUNTS][part]} tests")
        times[part][1] = max(times[part][1], report.stop)
        if report.failed:
            self._say_failed(report)
        if report.when == "teardown":
            self._rest.test_ended(part, self._config.stash[COUNTS])

    def _say_failed(self, report: pytest.TestReport) -> None:
        """At once: the run may be ended before its summary."""
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = crash.message.partition("\n")[0] if crash else ""
        reporter = self._config.pluginmanager.getplugin("terminalreporter")
        reporter.ensure_newline()
        reporter.write_line(f"  failed {report.when}: {report.nodeid} {reason}"[:LINE])

    def pytest_sessionfinish(self) -> None:
        self._rest.end()


def pytest_sessionstart(session: pytest.Session) -> None:
    if not is_worker(session.config):
        session.config.pluginmanager.register(PartProgress(session.config))
        end_in_time()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerController, error: object) -> None:
    """Takes over what a worker has started."""
    STARTED.names.update(getattr(node, "workeroutput", {}).get("started", ()))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a run in which a program was started that is not in the list of `onair_dev.required_programs`."""
    if is_worker(session.config):
        SHARE.give_back()
        session.config.workeroutput["started"] = sorted(STARTED.names)  # type: ignore[attr-defined]
    elif unlisted() and session.exitstatus == pytest.ExitCode.OK:
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
