"""A token is shown whole, and whatever else a stranger sends is no token."""

from __future__ import annotations

import pytest

from onair_crds.runtime.bearer import shows_token


@pytest.mark.parametrize(
    ("authorization", "shown"),
    [
        ("Bearer token", True),
        ("Bearer token ", False),
        ("bearer token", False),
        ("token", False),
        ("", False),
        ("Bearer \udcff", False),
        ("Bearer tökén", False),
    ],
)
def test_only_the_token_itself_is_shown(authorization: str, shown: bool) -> None:
    assert shows_token(authorization, "token") is shown
