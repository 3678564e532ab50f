"""When a key that failed is looked at again, and what people hear of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from onair_crds.kube.errors import ApiError, ApiUnavailable
from onair_operator.cluster.key_failures import FORBIDDEN_RETRY_S, LAST_RETRY_S, KeyFailures
from onair_operator.cluster.queue import Key

SHOW = Key("Project", "show")
NO_RIGHT = ApiError(
    403,
    "Forbidden",
    'projects.onair.dev "show" is forbidden: User "system:serviceaccount:onair-system:onair-operator" cannot'
    ' patch resource "projects/status" in API group "onair.dev" in the namespace "shows"',
)
QUOTA = ApiError(403, "Forbidden", 'pods "show-run-1" is forbidden: exceeded quota: no-pods')
UNAVAILABLE = ApiUnavailable(503, "ServiceUnavailable", "starting")


class KeyFailuresSetting:
    def __init__(self) -> None:
        self.waits: list[float] = []
        self.failures = KeyFailures(
            cast(Any, SimpleNamespace(add_after=lambda key, delay_s: self.waits.append(delay_s)))
        )

    def fail(self, times: int, error: ApiError) -> list[bool]:
        return [self.failures.add(SHOW, error) for _ in range(times)]


@pytest.mark.parametrize(
    ("error", "longest_s"),
    [(UNAVAILABLE, LAST_RETRY_S), (QUOTA, LAST_RETRY_S), (NO_RIGHT, FORBIDDEN_RETRY_S)],
)
def test_a_key_is_looked_at_again_ever_later(error: ApiError, longest_s: float) -> None:
    setting = KeyFailuresSetting()
    setting.fail(20, error)
    assert setting.waits[0] == 0.05
    assert setting.waits == sorted(setting.waits)
    assert setting.waits[-1] == longest_s


def test_a_missing_right_is_told_once_until_it_is_granted() -> None:
    setting = KeyFailuresSetting()
    with capture_logs() as logs:
        assert setting.fail(5, NO_RIGHT) == [True, False, False, False, False]
    assert [(each["log_level"], each["reason"]) for each in logs] == [("warning", "Forbidden")]
    setting.failures.forget(SHOW)
    assert setting.fail(2, NO_RIGHT) == [True, False]
    assert setting.waits[-2] == 0.05


@pytest.mark.parametrize("error", [ApiError(409, "Conflict", "changed"), ApiError(404, "NotFound", "gone")])
def test_what_passes_by_itself_is_not_told(error: ApiError) -> None:
    with capture_logs() as logs:
        assert KeyFailuresSetting().fail(2, error) == [False, False]
    assert logs == []


@pytest.mark.parametrize(("error", "lacks_right"), [(NO_RIGHT, True), (QUOTA, False), (UNAVAILABLE, False)])
def test_what_a_quota_or_a_policy_refuses_is_no_missing_right(error: ApiError, lacks_right: bool) -> None:
    assert error.lacks_right is lacks_right
