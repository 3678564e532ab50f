"""Names that the operator gives: of encoder pods, and of runs that were wanted without an id."""

from __future__ import annotations

import hashlib


def pod_name(project: str, broadcast: str, epoch: int) -> str:
    """The one name that an encoder pod of this run and epoch can have."""
    return f"{project}-{broadcast}-{epoch}"


def made_up_broadcast_id(project_uid: str, generation: int, last_id: str | None) -> str:
    """An id for a run that was wanted without one: the same world gives the same id."""
    seed = f"{project_uid}/{generation}/{last_id or ''}"
    return "r" + hashlib.sha256(seed.encode()).hexdigest()[:19]
