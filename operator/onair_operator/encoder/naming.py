"""Names of encoder pods."""

from __future__ import annotations


def pod_name(project: str, broadcast: str, epoch: int) -> str:
    """The one name that an encoder pod of this run and epoch can have, and no other run's.

    Dashes of the broadcast's id are doubled, or `a-b` of project `x` and `b` of `x-a` would have one name:
    so the last single dash but one ends the project's.
    """
    return f"{project}-{broadcast.replace('-', '--')}-{epoch}"
