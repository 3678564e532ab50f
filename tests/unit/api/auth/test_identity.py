"""Identities from claims."""

from __future__ import annotations

from typing import Any

import pytest

from onair_api.auth.identity import GuestControl, Identity
from onair_crds.resources.enums import Role

BEN = Identity("studio", "ben", "Ben", Role.GUEST, (), GuestControl("c", "p"))


@pytest.mark.parametrize(
    "control",
    [
        "p",
        {},
        {"collectionId": "c", "projectId": "p"},
        {"collectionId": "c", "projectId": 5, "role": "ROLE_GUEST"},
        {"collectionId": "c", "projectId": "p", "role": "ROLE_HOST"},
    ],
)
def test_a_guest_control_that_does_not_fit_is_refused(control: Any) -> None:
    with pytest.raises(ValueError, match="claim"):
        Identity.from_claims({**BEN.claims(), "guestControl": control}, "key")
