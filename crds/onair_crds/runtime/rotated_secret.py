"""A secret that may be replaced while programs run. Those that check by it learn of that at different times.

So each former one counts for a while after a program has learned of the next one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from onair_crds.runtime.bearer import shows_token

FORMER_S = 600.0
"""How long a former secret is accepted: longer than Kubernetes takes to update a mounted one, by far."""
LOOK_S = 5.0
"""How often it is looked whether a token that was shown before still counts."""


class RotatedSecret:
    def __init__(self, value: bytes, clock: Callable[[], float] = time.monotonic) -> None:
        self.present = value
        """What tokens are made with."""
        self._clock = clock
        self._former: list[tuple[bytes, float]] = []
        """Those that may count still, each with when it was replaced: several may be within a short time."""

    def replace(self, value: bytes) -> bool:
        """Takes the secret as it is now; gives whether it is another one."""
        if value == self.present:
            return False
        self._former = [*self._accepted(), (self.present, self._clock())]
        self.present = value
        return True

    def _accepted(self) -> list[tuple[bytes, float]]:
        since_s = self._clock() - FORMER_S
        return [each for each in self._former if each[1] > since_s]

    def shown_by(self, authorization: str, token_of: Callable[[bytes], str]) -> bool:
        """Whether an `Authorization` header shows the token that follows from it, or from a former one."""
        secrets = (self.present, *(former for former, _ in self._accepted()))
        return any(shows_token(authorization, token_of(each)) for each in secrets)

    async def until_refused(self, authorization: str, token_of: Callable[[bytes], str]) -> None:
        """Returns once the token is accepted no more: who showed it before may have long connections."""
        while True:
            await asyncio.sleep(LOOK_S)
            if not self.shown_by(authorization, token_of):
                return
