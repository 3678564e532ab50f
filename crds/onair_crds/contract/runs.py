"""Ids of runs that were: an id never runs twice, so a project's status remembers all of them, shortened."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Sequence

from onair_crds.resources.project import MAX_USED_RUNS

FINGERPRINT_CHARACTERS = 8


def fingerprint(run_id: str) -> str:
    """48 bits of the id's hash: a million runs later, one in 200 million ids would be taken for used."""
    digest = hashlib.sha256(run_id.encode()).digest()
    return base64.urlsafe_b64encode(digest)[:FINGERPRINT_CHARACTERS].decode()


def was_used(run_id: str, used: Collection[str]) -> bool:
    """Whether an earlier run had this id, by the fingerprints in `status.used`."""
    return fingerprint(run_id) in used


def with_used(used: Sequence[str], run_id: str) -> list[str]:
    """The fingerprints with one more, as the last; the oldest is dropped above `MAX_USED_RUNS`."""
    added = fingerprint(run_id)
    return [*(each for each in used if each != added), added][-MAX_USED_RUNS:]
