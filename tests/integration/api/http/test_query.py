"""Query parameters."""

from __future__ import annotations

from tests.support.facade import User
from tests.support.tokens import assert_error


def test_a_flag_is_true_or_false(anna: User) -> None:
    show = anna.project()
    for value in ("2", "yes", "null", "%ff", "true,false"):
        for path in (
            f"{show.path}?status={value}",
            f"/collection/{show.collection}?populateProjects={value}",
        ):
            assert_error(anna.call("GET", path), 400, 3)
        assert_error(anna.call("DELETE", f"{show.path}?force={value}"), 400, 3)
