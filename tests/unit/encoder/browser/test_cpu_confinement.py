"""A page that burns every CPU is kept to fewer of them until it has been calm; others never notice."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_encoder.browser.cpu_confinement import (
    PAUSE_MAX_S,
    PAUSE_MIN_S,
    TO_CONFINE_AGAIN_S,
    TO_CONFINE_S,
    UNTIL_TRIAL,
    CpuConfinement,
    CpuLook,
)

REQUEST, LOOK_S = 0.4, 0.25
TRIAL_S = PAUSE_MIN_S * UNTIL_TRIAL
BURNING, CALM = (1.3, 6.0), (0.3, 0.5)


class ConfinedPage:
    """Takes and wants what a test says, on a node of some CPUs."""

    def __init__(self, cpus: int = 2, request: float = REQUEST) -> None:
        self.confinement, self.allowed, self.now_s = CpuConfinement(request), set(range(cpus)), 0.0

    @property
    def cpus(self) -> set[int]:
        return set(self.confinement.cpus(self.allowed))

    def look(self, used: float, burnt: float | None, wanted: float | None = None) -> bool:
        self.now_s += LOOK_S
        look = CpuLook(used, burnt, burnt if wanted is None else wanted, len(self.allowed), LOOK_S)
        return self.confinement.decide(look, self.now_s)

    def does(self, *what: tuple[float, float | None], for_s: float) -> bool:
        """Does one after the other, again and again; whether it is confined at the end."""
        end_s = self.now_s + for_s
        while self.now_s < end_s:
            for used, burnt in what:
                self.look(used, burnt)
        return self.confinement.confined

    def seconds_until(self, what: tuple[float, float | None], *, confined: bool) -> float:
        began_s = self.now_s
        while self.confinement.confined is not confined:
            self.look(*what)
            assert self.now_s - began_s < 2 * PAUSE_MAX_S
        return self.now_s - began_s


def confined(cpus: int = 2, request: float = REQUEST) -> ConfinedPage:
    page = ConfinedPage(cpus, request)
    assert page.does((0.6 * cpus, 4.0 * cpus), for_s=TO_CONFINE_S)
    return page


def test_a_page_that_burns_every_cpu_is_confined_after_a_second_and_released_once_it_has_been_calm() -> None:
    page = ConfinedPage()
    assert page.seconds_until(BURNING, confined=True) == TO_CONFINE_S
    assert page.cpus == {1}
    assert page.seconds_until(CALM, confined=False) == PAUSE_MIN_S
    assert page.cpus == {0, 1}


@pytest.mark.parametrize(
    ("used", "burnt"),
    [
        pytest.param(0.3, 0.5, id="calm"),
        pytest.param(0.55, 8.0, id="so crowded by others that it gets little more than its request"),
        pytest.param(1.4, 0.0, id="whose threads all sleep between two frames"),
        pytest.param(1.4, 1.4, id="one and a half CPUs of two"),
        pytest.param(1.9, None, id="whose threads nobody has looked at yet"),
    ],
)
def test_other_pages_are_not_confined(used: float, burnt: float | None) -> None:
    assert not ConfinedPage().does((used, burnt), for_s=60)


@pytest.mark.parametrize(
    ("used", "burnt"),
    [
        pytest.param(0.85, 8.0, id="that gets little, as others want CPUs too"),
        pytest.param(1.8, 2.0, id="with as many threads as CPUs"),
        pytest.param(1.8, 0.0, id="whose threads end between two looks"),
    ],
)
def test_a_page_that_burns_is_confined(used: float, burnt: float) -> None:
    assert ConfinedPage().does((used, burnt), for_s=TO_CONFINE_S)


def test_a_page_whose_threads_sleep_is_confined_where_more_of_them_wait_than_those_of_any_show() -> None:
    page = ConfinedPage()
    for _ in range(200):
        page.look(1.2, 0.0, 7.5)
    assert not page.confinement.confined
    for _ in range(round(TO_CONFINE_S / LOOK_S)):
        page.look(1.2, 0.0, 8.5)
    assert page.confinement.confined
    for _ in range(round(PAUSE_MIN_S / LOOK_S)):
        page.look(0.6, 0.0, 9.5)
    assert not page.confinement.confined, "they wait for each other there"


@pytest.mark.parametrize("calm_looks", [1, 2, 3])
def test_alternating_does_not_help(calm_looks: int) -> None:
    assert ConfinedPage().does(BURNING, *[CALM] * calm_looks, for_s=20 * TO_CONFINE_S)
    page = confined()
    assert page.does(BURNING, *[CALM] * 3 * calm_looks, for_s=TRIAL_S - PAUSE_MIN_S)


def test_a_page_that_burns_for_a_moment_now_and_then_is_not_confined() -> None:
    assert not ConfinedPage().does(BURNING, BURNING, *[CALM] * 8, for_s=60)


def test_it_is_released_ever_later_but_for_another_page() -> None:
    page, pause_s = confined(), PAUSE_MIN_S
    for _ in range(8):
        assert page.seconds_until(CALM, confined=False) == pause_s
        page.seconds_until(BURNING, confined=True)
        pause_s = min(2 * pause_s, PAUSE_MAX_S)
    page.confinement.begin()
    assert page.confinement.confined, "it may be as bad"
    assert page.seconds_until(CALM, confined=False) == PAUSE_MIN_S


def test_who_was_confined_a_while_ago_is_so_sooner() -> None:
    page = confined()
    page.seconds_until(CALM, confined=False)
    assert page.seconds_until(BURNING, confined=True) == TO_CONFINE_AGAIN_S


def test_what_was_long_ago_is_forgotten() -> None:
    page = confined()
    page.seconds_until(CALM, confined=False)
    page.does(CALM, for_s=PAUSE_MAX_S)
    assert page.seconds_until(BURNING, confined=True) == TO_CONFINE_S
    assert page.seconds_until(CALM, confined=False) == PAUSE_MIN_S


def test_a_confined_page_is_judged_by_less() -> None:
    page = confined()
    assert page.does((REQUEST + 0.1, 4.0), for_s=TRIAL_S / 2), "it shares its CPU with others that burn"
    assert page.seconds_until((REQUEST, 4.0), confined=False) < TRIAL_S / 2


def test_it_is_released_on_trial_ever_later_however_much_its_threads_wait() -> None:
    """As those of an honest page may that share one CPU."""
    page, trial_s = confined(), TRIAL_S
    for _ in range(6):
        assert page.seconds_until((0.6, 7.0), confined=False) == trial_s
        assert page.seconds_until(BURNING, confined=True) == TO_CONFINE_AGAIN_S
        trial_s = min(2 * trial_s, PAUSE_MAX_S)
    page.seconds_until((0.6, 7.0), confined=False)
    assert not page.does((0.7, 1.4), for_s=60), "it burnt once, and does no more"


@pytest.mark.parametrize(
    ("cpus", "request_", "left"),
    [
        (2, 0.4, {1}),
        (2, 1.0, {1}),
        (4, 0.4, {3}),
        (4, 1.0, {2, 3}),
        (4, 2.3, {1, 2, 3}),
        (4, 2.0, {1, 2, 3}),
        (16, 0.8, {14, 15}),
    ],
)
def test_it_keeps_what_it_was_promised_and_leaves_a_cpu_at_least(
    cpus: int, request_: float, left: set[int]
) -> None:
    assert confined(cpus, request_).cpus == left


@pytest.mark.parametrize(
    ("cpus", "request_", "share"),
    [
        (2, 0.1, 0.5),
        (2, 0.4, 0.6),
        (2, 0.5, 0.75),
        (2, 1.0, 1.0),
        (4, 0.8, 0.6),
        (16, 0.8, 0.6),
        (16, 1.3, 0.975),
    ],
)
def test_its_processes_run_for_half_of_the_time_or_half_more_than_it_was_promised(
    cpus: int, request_: float, share: float
) -> None:
    page = ConfinedPage(cpus, request_)
    assert page.confinement.running_share(page.allowed) == 1
    page = confined(cpus, request_)
    assert page.confinement.running_share(page.allowed) == pytest.approx(share)
    assert page.confinement.running_share({3}) == 1, "there is nothing to be kept from"


@pytest.mark.parametrize(("cpus", "request_"), [(1, 0.4), (2, 1.2), (4, 3.5)])
def test_where_none_can_be_left_it_may_run_on_all(cpus: int, request_: float) -> None:
    page = ConfinedPage(cpus, request_)
    assert not page.does((cpus, 4.0 * cpus), for_s=60)
    assert page.cpus == page.allowed


def test_the_cpus_are_those_that_the_container_may_run_on_at_present() -> None:
    page = confined()
    page.allowed = {2, 5, 7}
    assert page.cpus == {7}
    page.allowed = {2}
    assert page.cpus == {2}
    assert not page.does((1.0, 8.0), for_s=PAUSE_MIN_S), "there is nothing to be kept from"


def test_threads_are_looked_at_only_where_it_takes_much() -> None:
    page = ConfinedPage()
    assert not page.confinement.suspects(REQUEST, 2)
    assert page.confinement.suspects(2.1 * REQUEST, 2)
    page.look(*BURNING)
    assert page.confinement.suspects(0.0, 2), "as it may alternate"
    assert confined().confinement.suspects(0.0, 2)


LOOKS = st.tuples(st.floats(0, 16), st.none() | st.floats(0, 64))


@given(looks=st.lists(LOOKS, max_size=60), cpus=st.integers(1, 8), request=st.floats(0.05, 8))
def test_whatever_it_does_it_has_a_cpu_and_its_request(
    looks: Iterable[tuple[float, float | None]], cpus: int, request: float
) -> None:
    page = ConfinedPage(cpus, request)
    for used, burnt in looks:
        before = page.confinement.confined
        assert page.look(used, burnt) is (page.confinement.confined is not before)
        assert page.cpus
        assert page.cpus <= page.allowed
        share = page.confinement.running_share(page.allowed)
        assert len(page.cpus) * share >= min(request, cpus)
        assert (page.cpus < page.allowed) is page.confinement.confined
