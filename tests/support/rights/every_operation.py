"""Has a facade do all that it does, so that a right would be missed that it has not got."""

from __future__ import annotations

from tests.support.facade import User
from tests.support.operations import CALLS, OperationWorld
from tests.support.rights.installation import Installation


def use_every_operation(installation: Installation) -> None:
    """Calls each twice, as the second finds nothing to change."""
    user: User = installation.host()
    world = OperationWorld(user, set(CALLS))
    for call in CALLS.values():
        once_only = call.method == "DELETE" or not call.status
        for _ in range(1 if once_only else 2):
            world.call(user, call)
