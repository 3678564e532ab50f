"""By what whoever was removed from a room is known again when they ask for another token. Pure."""

from __future__ import annotations

import hashlib

from onair_api.auth.identity import Identity, Origin
from onair_crds.contract.room_tokens import is_room_admin
from onair_crds.resources.enums import Role
from onair_crds.resources.room import BarredParticipant


def fingerprint(token_id: str) -> str:
    """What is kept of an access token."""
    return _hashed("room", token_id)


def lineage_mark(identity: Identity) -> str | None:
    """What is kept of an access token's lineage, which refreshes do not change; None for pages.

    All users of one page's token are one user, whose next encoder is not to be kept out. Everybody in a
    show was invited by its owner, so that removing one of their joins keeps out nobody else.
    """
    if identity.role is Role.RENDERER:
        return None
    own = identity.lineage[-1]
    return _alone(own) if identity.role is Role.HOST and identity.guest is None else _with_invited(own)


def was_removed(barred: list[BarredParticipant], identity: Identity, user: str, token: str) -> bool:
    """Whether a caller was removed: by token or lineage; by user, too, if they do not run the room."""
    by_user = identity.role is None or not is_room_admin(identity.role)
    return goes_back_to_removed(barred, identity) or any(
        each.token == token or (each.user == user and by_user) for each in barred
    )


def goes_back_to_removed(barred: list[BarredParticipant], origin: Origin) -> bool:
    """Whether somebody was removed who joined with a token of this lineage."""
    marks = {_with_invited(each) for each in origin.lineage} | {_alone(each) for each in origin.lineage[-1:]}
    return any(each.lineage in marks for each in barred)


def is_own_join(mark: str | None, remover: Origin | None) -> bool:
    """Whether whoever removes a participant with this mark removes a join of their own."""
    own = remover.lineage[-1:] if remover else ()
    return any(mark in (_alone(each), _with_invited(each)) for each in own)


def _alone(id_: str) -> str:
    return _hashed("room chain", id_)


def _with_invited(id_: str) -> str:
    return _hashed("room lineage", id_)


def _hashed(kind: str, id_: str) -> str:
    return hashlib.sha256(f"{kind} {id_}".encode()).hexdigest()[:32]
