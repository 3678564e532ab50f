"""Limits what one token's streams subscribe to, and how many patterns events are compared with one by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from onair_api.errors import ResourceExhausted
from onair_api.event.names import WildPattern, pattern
from onair_api.event.stream.session import Session
from onair_api.settings import EventSettings


@dataclass(slots=True)
class _Use:
    """What one token's streams subscribe to on this replica."""

    names: int = 0
    wild: Counter[WildPattern] = field(default_factory=Counter)


_NONE = _Use()


class SubscriptionLimits:
    """Counts by token. Removing what was added leaves nothing."""

    def __init__(self, settings: EventSettings) -> None:
        self._settings = settings
        self._uses: dict[str, _Use] = {}

    @property
    def idle(self) -> bool:
        return not self._uses

    def check(self, session: Session, name: str, wild_in_audience: int) -> None:
        """Checks a subscription against the limits of its session and token.

        Args:
            name: of a subscription that the session does not have.
            wild_in_audience: how many patterns an event would be compared with one by one.

        Raises:
            ResourceExhausted: with it a limit would be exceeded; the message names the limit.
        """
        limits = self._settings
        if len(session.subscriptions) >= (limit := limits.subscriptions_per_session):
            raise _refused(limit, "subscriptions of a stream", "subscriptionsPerSession")
        compiled = pattern(name)
        use = self._uses.get(session.token, _NONE)
        if use.names + compiled.size > (limit := limits.names_per_token):
            raise _refused(limit, "names in the subscriptions of a token", "namesPerToken")
        new = sum(1 for each in compiled.wild if each not in use.wild)
        if new and len(use.wild) + new > (limit := limits.wildcards_per_token):
            raise _refused(limit, f"{_WILD} of a token", "wildcardsPerToken")
        if new and wild_in_audience > (limit := limits.wildcards_per_audience):
            raise _refused(limit, f"{_WILD} of one audience", "wildcardsPerAudience")

    def add(self, token: str, name: str) -> None:
        compiled = pattern(name)
        use = self._uses.get(token)
        if use is None:
            use = self._uses[token] = _Use()
        use.names += compiled.size
        use.wild.update(compiled.wild)

    def remove(self, token: str, name: str) -> None:
        compiled = pattern(name)
        use = self._uses[token]
        use.names -= compiled.size
        for each in compiled.wild:
            use.wild[each] -= 1
            if not use.wild[each]:
                del use.wild[each]
        if not use.names:
            del self._uses[token]


_WILD = "different patterns with `*` anywhere but at the end"


def _refused(limit: int, what: str, value: str) -> ResourceExhausted:
    return ResourceExhausted(f"the limit is {limit} {what} (`api.events.{value}`)")
