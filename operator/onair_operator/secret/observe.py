"""Gathers one Secret that the facade made, and whether what it was made for exists."""

from __future__ import annotations

from dataclasses import dataclass

from onair_operator.cluster.watched_kinds import MADE_FOR, SECRET
from onair_operator.cluster.world import World
from onair_operator.secret.observed import SecretView


@dataclass(frozen=True)
class ObservedSecret:
    secret: SecretView
    in_use: bool
    """Whether a resource that it was made for exists."""


def observe(world: World, name: str) -> ObservedSecret | None:
    """The Secret; None if there is none, or if it was made for nothing in particular."""
    entry = world.store.entry(SECRET, name)
    if entry is None:
        return None
    owners = [(kind, entry.labels[label]) for label, kind in MADE_FOR.items() if label in entry.labels]
    if not owners:
        return None
    in_use = any(world.store.entry(kind, owner) is not None for kind, owner in owners)
    return ObservedSecret(SecretView.of(entry), in_use)
