"""Decides which resource goes with another one, by an owner reference. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from onair_crds.contract.owners import is_tracked, owner_is_wrong
from onair_crds.resources.base import Resource
from onair_operator.cluster.actions import Action, Adopt, Disown


def follow_owner(child: Resource, owner: Resource) -> Iterator[Action]:
    """Has a child deleted with its owner, unless Argo CD is to delete it: that leaves alone what has one."""
    if child.deleting or owner.deleting or not owner_is_wrong(child.metadata, owner.uid):
        return
    yield Disown(child) if is_tracked(child.metadata) else Adopt(child, owner)
