"""Failures in a row of each key: when it is looked at again, and which of them are worth a word."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from onair_crds.backoff import backoff_s
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import Resource
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.cluster.queue import Key, WorkQueue

log = structlog.get_logger()

FIRST_RETRY_S, LAST_RETRY_S = 0.05, 10.0
FORBIDDEN_RETRY_S = 60.0
"""At last, for what an administrator has to grant."""


def retry_s(error: ApiError, before: int) -> float:
    """The pause after a failure that so many in a row came before."""
    longest_s = FORBIDDEN_RETRY_S if error.lacks_right else LAST_RETRY_S
    return backoff_s(before, FIRST_RETRY_S, longest_s)


def lacking_right(resource: Resource, error: ApiError) -> ResourceEvent:
    """What people hear of a right that an administrator has to grant."""
    return ResourceEvent(resource, "Forbidden", f"the operator lacks a right: {error.message}", warning=True)


@dataclass
class _Failing:
    times: int = 0
    told: bool = False
    """Of a missing right."""


class KeyFailures:
    def __init__(self, queue: WorkQueue) -> None:
        self._queue = queue
        self._failing: dict[Key, _Failing] = {}

    def add(self, key: Key, error: ApiError) -> bool:
        """Has the key looked at again after a while; whether people are to hear of it who have not."""
        failing = self._failing.setdefault(key, _Failing())
        self._queue.add_after(key, retry_s(error, failing.times))
        failing.times += 1
        passes = error.conflict or error.not_found
        if passes or (error.lacks_right and failing.told):
            return False
        failing.told = failing.told or error.lacks_right
        log.warning("reconcile.failed", key=str(key), reason=error.reason, error=error.message)
        return True

    def forget(self, key: Key) -> None:
        """Forgets the failures of a key that was looked at without one."""
        self._failing.pop(key, None)
