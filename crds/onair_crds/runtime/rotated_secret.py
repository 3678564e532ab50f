"""A secret that may be replaced while programs run. Those that check by it learn of that at different times.

So the former one counts for a while after a program has learned of the new one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from onair_crds.runtime.bearer import shows_token

FORMER_S = 600.0
"""How long the former secret is accepted: longer than Kubernetes takes to update a mounted one, by far."""


class RotatedSecret:
    def __init__(self, value: bytes, clock: Callable[[], float] = time.monotonic) -> None:
        self.present = value
        """What tokens are made with."""
        self._clock = clock
        self._former: bytes | None = None
        self._replaced_at = 0.0

    def replace(self, value: bytes) -> bool:
        """Takes the secret as it is now; gives whether it is another one."""
        if value == self.present:
            return False
        self._former, self.present, self._replaced_at = self.present, value, self._clock()
        return True

    def shown_by(self, authorization: str, token_of: Callable[[bytes], str]) -> bool:
        """Whether an `Authorization` header shows the token that follows from it, or from the former one."""
        if shows_token(authorization, token_of(self.present)):
            return True
        former = self._former if self._clock() - self._replaced_at < FORMER_S else None
        return former is not None and shows_token(authorization, token_of(former))
