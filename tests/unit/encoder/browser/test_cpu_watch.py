"""A browser whose page burns every CPU runs on the last one, until it has been calm."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from types import SimpleNamespace

import pytest
from tests.support.waiting import until

from onair_crds.contract.pod import CPU_REQUEST_VARIABLE
from onair_encoder.browser import cpu_use, cpu_watch
from onair_encoder.browser.cpu_confinement import PAUSE_MIN_S, TO_CONFINE_S
from onair_encoder.browser.cpu_use import CpuTime
from onair_encoder.browser.cpu_watch import CpuWatch

CHROMIUM, RENDERER, SOUND, LOOK_S = 4711, 4713, 4714, 0.25
ALLOWED = {0, 1}


class Node:
    """What the kernel would say; its clock goes on by a look at a time."""

    def __init__(self) -> None:
        self.now_s, self.used, self.wanted = 0.0, 0.2, 0.3
        self.used_s: float | None = 0.0
        self.times: dict[tuple[int, int], CpuTime] = {}
        self.others = 0.1
        """CPUs that all but the page take."""
        self.first_wants = self.sound_wants = 0.05
        self.threads_of_page, self.short_lived = 8, False
        """That share what it takes and wants; another one each time, if they live no longer."""
        self.looks_at_threads = self.looks = 0
        self.bound: list[tuple[int, set[int]]] = []
        self.processes: set[int] = set()
        self.share, self.stopped_s = 1.0, 0.0

    def goes_on(self) -> None:
        self.now_s += LOOK_S
        running_s = LOOK_S * (self.share if RENDERER in self.processes else 1.0)
        self.stopped_s += LOOK_S - running_s
        if self.used_s is not None:
            self.used_s += (self.used - self.others) * running_s + self.others * LOOK_S
        self.looks += 1
        ran_s = (self.used - self.others) * running_s / self.threads_of_page
        wanted_s = self.wanted * running_s / self.threads_of_page
        threads = range(10, 10 + self.threads_of_page)
        before = {} if self.short_lived else self.times
        earlier = {each: before.get((RENDERER, each), CpuTime(0, 0)) for each in threads}
        first = self.looks * 100 if self.short_lived else 0
        self.times = {
            **{
                (RENDERER, first + each): CpuTime(earlier[each].ran + ran_s, earlier[each].wanted + wanted_s)
                for each in threads
            },
            (CHROMIUM, 2): CpuTime(0.05 * self.now_s, self.first_wants * self.now_s),
            (SOUND, 3): CpuTime(0.05 * self.now_s, self.sound_wants * self.now_s),
        }

    def threads(self, session: int) -> dict[tuple[int, int], CpuTime]:
        assert session == CHROMIUM
        self.looks_at_threads += 1
        return dict(self.times)

    def bind(self, session: int, cpus: AbstractSet[int]) -> None:
        self.bound.append((session, {*cpus}))

    def set(self, processes: Iterable[int], share: float) -> None:
        self.processes, self.share = {*processes} if share < 1 else set(), share


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Node:
    node = Node()
    monkeypatch.setenv(CPU_REQUEST_VARIABLE, "400")
    monkeypatch.setattr(cpu_watch, "time", SimpleNamespace(monotonic=lambda: node.now_s))
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: ALLOWED)
    monkeypatch.setattr(cpu_use, "used_s", lambda: node.used_s)
    monkeypatch.setattr(cpu_use, "thread_times", node.threads)
    monkeypatch.setattr(cpu_use, "bind", node.bind)
    monkeypatch.setattr(cpu_watch, "CpuPauses", lambda: node)
    return node


async def looks(node: Node, watch: CpuWatch, for_s: float) -> None:
    for _ in range(round(for_s / LOOK_S)):
        node.goes_on()
        await watch.look()


async def test_a_page_that_burns_is_confined_and_released(node: Node) -> None:
    told: list[bool] = []
    watch = CpuWatch(lambda: CHROMIUM, lambda: told.append(watch.confined))
    await looks(node, watch, 10)
    assert node.looks_at_threads == 0, "nobody looks at threads of a page that takes little"
    node.used, node.wanted = 1.5, 8.0
    await looks(node, watch, TO_CONFINE_S + 2 * LOOK_S)
    assert told == [True]
    assert node.bound[0] == (CHROMIUM, {1})
    node.used, node.wanted = 0.2, 0.3
    await looks(node, watch, PAUSE_MIN_S)
    assert told == [True, False]
    assert {tuple(cpus) for _, cpus in node.bound[:-1]} == {(1,)}, "again at each look: some may undo it"
    assert node.bound[-1] == (CHROMIUM, ALLOWED)
    before = len(node.bound)
    await looks(node, watch, 1)
    assert len(node.bound) == before


async def test_a_page_whose_threads_sleep_between_two_frames_is_not_confined_however_long_they_wait(
    node: Node,
) -> None:
    watch = CpuWatch(lambda: CHROMIUM, lambda: None)
    node.used, node.wanted, node.threads_of_page = 1.3, 7.0, 10
    await looks(node, watch, 10 * TO_CONFINE_S)
    assert node.looks_at_threads
    assert not watch.confined
    node.threads_of_page = 7
    await looks(node, watch, TO_CONFINE_S + 2 * LOOK_S)
    assert watch.confined


async def test_threads_that_live_no_longer_than_a_look_burn_what_they_take(node: Node) -> None:
    watch = CpuWatch(lambda: CHROMIUM, lambda: None)
    node.used, node.wanted, node.threads_of_page, node.short_lived = 1.3, 4.0, 10, True
    await looks(node, watch, TO_CONFINE_S + 2 * LOOK_S)
    assert watch.confined


async def test_processes_that_burn_are_paused_while_it_is_confined(node: Node) -> None:
    watch = CpuWatch(lambda: CHROMIUM, lambda: None)
    node.used, node.wanted = 1.5, 8.0
    node.first_wants = node.sound_wants = 0.9  # they wait for those that burn
    await looks(node, watch, TO_CONFINE_S)
    assert not node.processes
    await looks(node, watch, 2 * LOOK_S)
    assert node.processes == {RENDERER}, "neither the first one nor one that takes little"
    assert node.share == pytest.approx(0.6), "one and a half times what was promised"
    node.wanted, node.threads_of_page = 1.7, 2  # of the time in which it may run
    await looks(node, watch, 10 * PAUSE_MIN_S)
    assert watch.confined
    node.used, node.wanted = 0.2, 0.3
    node.first_wants = node.sound_wants = 0.05
    await looks(node, watch, PAUSE_MIN_S + LOOK_S)
    assert not watch.confined
    assert not node.processes


async def test_a_page_that_is_paused_is_judged_by_what_it_takes_alone(node: Node) -> None:
    """Beside it the screen and sound run all the time."""
    watch = CpuWatch(lambda: CHROMIUM, lambda: None)
    node.used, node.wanted = 1.5, 8.0
    await looks(node, watch, TO_CONFINE_S + 2 * LOOK_S)
    node.used, node.others, node.wanted = 1.4, 0.5, 0.9
    await looks(node, watch, PAUSE_MIN_S + LOOK_S)
    assert not watch.confined


async def test_where_nothing_can_be_paused_it_is_confined_to_its_cpus_all_the_same(
    node: Node, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuses(processes: Iterable[int], share: float) -> None:
        if [*processes]:
            raise OSError("Function not implemented")

    monkeypatch.setattr(node, "set", refuses)
    watch = CpuWatch(lambda: CHROMIUM, lambda: None)
    node.used, node.wanted = 1.5, 8.0
    await looks(node, watch, TO_CONFINE_S + 8 * LOOK_S)
    assert node.bound[-1] == (CHROMIUM, {1})
    assert capfd.readouterr().err.count("page.not-paused") == 1


async def test_where_what_it_takes_is_unknown_for_a_while_nothing_is_paused(node: Node) -> None:
    watch = CpuWatch(lambda: CHROMIUM, lambda: None)
    node.used, node.wanted = 1.5, 8.0
    await looks(node, watch, TO_CONFINE_S + 2 * LOOK_S)
    assert node.processes
    node.used_s = None
    await looks(node, watch, LOOK_S)
    assert not node.processes


async def test_a_browser_that_is_started_meanwhile_is_confined_too(node: Node) -> None:
    sessions: list[int | None] = [CHROMIUM]
    watch = CpuWatch(lambda: sessions[-1], lambda: None)
    node.used, node.wanted = 1.5, 8.0
    await looks(node, watch, TO_CONFINE_S + 2 * LOOK_S)
    node.bound.clear()
    sessions.append(None)
    await looks(node, watch, 1)
    assert node.bound == []
    sessions.append(CHROMIUM)
    await looks(node, watch, LOOK_S)
    assert node.bound == [(CHROMIUM, {1})]


async def test_where_nobody_counts_it_nothing_is_confined(node: Node) -> None:
    node.used_s = None
    watch = CpuWatch(lambda: CHROMIUM, lambda: None)
    node.used, node.wanted = 2.0, 8.0
    await looks(node, watch, 5)
    assert not watch.confined
    assert node.looks_at_threads == 0


async def test_a_release_that_fails_is_tried_again(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = CpuWatch(lambda: CHROMIUM, lambda: None)
    node.used, node.wanted = 1.5, 8.0
    await looks(node, watch, TO_CONFINE_S + 2 * LOOK_S)

    def fails(session: int, cpus: AbstractSet[int]) -> None:
        if cpus == ALLOWED:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(cpu_use, "bind", fails)
    node.used, node.wanted = 0.2, 0.3
    with pytest.raises(RuntimeError):
        await looks(node, watch, PAUSE_MIN_S)
    assert not watch.confined
    monkeypatch.setattr(cpu_use, "bind", node.bind)
    await looks(node, watch, LOOK_S)
    assert node.bound[-1] == (CHROMIUM, ALLOWED)


async def test_looks_go_on_where_one_of_them_fails(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, failures = CpuWatch(lambda: CHROMIUM, lambda: None), [OSError("too many open files")] * 3
    monkeypatch.setattr(cpu_watch, "LOOK_S", 0.001)
    node.used, node.wanted = 2.0, 8.0

    def threads(session: int) -> dict[tuple[int, int], CpuTime]:
        if failures:
            raise failures.pop()
        return node.threads(session)

    def used_s() -> float | None:
        node.goes_on()
        return node.used_s

    monkeypatch.setattr(cpu_use, "thread_times", threads)
    monkeypatch.setattr(cpu_use, "used_s", used_s)
    running = asyncio.create_task(watch.run())
    await until(lambda: watch.confined, "confined")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert failures == []
