"""Whether Chromium may run on every CPU, or on a few, which leaves the others to its neighbours. Pure."""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from typing import NamedTuple

BURNING_SHARE = 0.75
"""Of all CPUs: what threads that hardly sleep run on or wait for. More leaves none free for whoever comes."""
CROWDED = 4.0
"""Times all CPUs: what all of its threads together run on or wait for, however long each of them sleeps.
Those of a rich show on slow CPUs reach 3.5."""
BEYOND_REQUEST = 1.5
"""Times the request of the container, or half of the CPUs if that is less: nobody looks at the threads of a
page that takes no more. A confined one is given as much."""
TO_CONFINE_S, TO_CONFINE_AGAIN_S = 2.0, 0.5
"""So long in all it burns before it is confined, and where it was confined a while ago."""
LEAST_RUNNING = 0.5
"""Of the time, that processes which burn may run while confined. With less, others gain little more."""
CALM_WEIGHT = 0.25
"""A calm second makes up for a quarter of one that burns, so that alternating does not help."""
PAUSE_MIN_S, PAUSE_MAX_S = 2.5, 320.0
"""How long a page has to be calm before it is released; twice as long each time."""
UNTIL_TRIAL = 12.0
"""Times that pause, PAUSE_MAX_S at most: after so long it is released on trial, calm or not. Threads that
share fewer CPUs wait more for each other, so that a page which burnt once may look as if it still did."""


class CpuLook(NamedTuple):
    """What the browser did since the look before."""

    used: float
    """CPUs that its container took, on average, of the time in which its processes might run."""
    burnt: float | None
    """CPUs on which those of Chromium's threads that hardly slept ran, or for which they waited, of the same
    time; None while unknown."""
    wanted: float | None
    """The same of all its threads."""
    cpus: int
    """That the container may run on."""
    length_s: float


class CpuConfinement:
    """Confines Chromium to fewer CPUs while its page burns more than there are.

    Args:
        request: CPUs that the container was promised; it gets as many, confined or not.
    """

    def __init__(self, request: float) -> None:
        self._request = request
        self.confined = False
        self._burnt_s = 0.0
        self._confined_s = 0.0
        self._calm_since_s = 0.0
        self._released_s = -math.inf
        self._pause_s = PAUSE_MIN_S

    def begin(self) -> None:
        """Starts over with another page: what is known of the pause is of the former one."""
        self._pause_s = PAUSE_MIN_S

    def cpus(self, allowed: AbstractSet[int]) -> AbstractSet[int]:
        """Those that Chromium may run on now, of those that its container may.

        Whoever is confined is so to the same ones, the last: pages that burn share them.
        """
        if not (self.confined and self._may_confine(len(allowed))):
            return allowed
        count = min(len(allowed) - 1, math.ceil(self._request * BEYOND_REQUEST))
        return set(sorted(allowed)[-count:])

    def running_share(self, allowed: AbstractSet[int]) -> float:
        """The share of time in which its processes that burn CPU may run on these CPUs.

        In the rest threads of others that wake there have their turn at once.
        """
        if not (self.confined and self._may_confine(len(allowed))):
            return 1.0
        promised = self._request * BEYOND_REQUEST / len(self.cpus(allowed))
        return min(1.0, max(LEAST_RUNNING, promised))

    def suspects(self, used: float, cpus: int) -> bool:
        """Whether it takes a look at the threads to decide."""
        return self.confined or self._burnt_s > 0 or used > self._enough(cpus)

    def decide(self, look: CpuLook, now_s: float) -> bool:
        """Decides again; returns whether that changes where Chromium may run.

        Args:
            now_s: on the monotonic clock.
        """
        return self._decide_release(look, now_s) if self.confined else self._decide_confinement(look, now_s)

    def _decide_confinement(self, look: CpuLook, now_s: float) -> bool:
        burns = self._burns(look, self._enough(look.cpus))
        if burns is not None:
            self._burnt_s += look.length_s if burns else -look.length_s * CALM_WEIGHT
            self._burnt_s = max(0.0, self._burnt_s)
        again = now_s - self._released_s < PAUSE_MAX_S
        if self._burnt_s < (TO_CONFINE_AGAIN_S if again else TO_CONFINE_S):
            return False
        self._pause_s = min(self._pause_s * 2, PAUSE_MAX_S) if again else PAUSE_MIN_S
        self.confined, self._confined_s, self._calm_since_s = True, now_s, now_s
        return True

    def _decide_release(self, look: CpuLook, now_s: float) -> bool:
        if self._burns(look, self._request) is not False:
            self._calm_since_s = now_s
        on_trial = now_s - self._confined_s >= min(self._pause_s * UNTIL_TRIAL, PAUSE_MAX_S)
        if now_s - self._calm_since_s < self._pause_s and not on_trial:
            return False
        self.confined, self._burnt_s, self._released_s = False, 0.0, now_s
        return True

    def _burns(self, look: CpuLook, more_than: float) -> bool | None:
        if not self._may_confine(look.cpus) or look.used <= more_than:
            return False
        if look.burnt is None or look.wanted is None:
            return None
        # Threads of a confined one may wait so much because it is
        crowded = not self.confined and look.wanted > look.cpus * CROWDED
        # Threads that ended between two looks are only in what was used
        return crowded or max(look.burnt, look.used) > look.cpus * BURNING_SHARE

    def _enough(self, cpus: int) -> float:
        return max(self._request, min(self._request * BEYOND_REQUEST, cpus / 2))

    def _may_confine(self, cpus: int) -> bool:
        return cpus > 1 and self._request <= cpus - 1
