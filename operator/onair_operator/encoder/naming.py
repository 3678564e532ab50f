"""Names of encoder pods."""

from __future__ import annotations


def pod_name(project: str, broadcast: str, epoch: int) -> str:
    """The one name that an encoder pod of this run and epoch can have."""
    return f"{project}-{broadcast}-{epoch}"
