"""Identities in rooms: a user's own id, with a number where the user is in the room already."""

from __future__ import annotations

from collections.abc import Callable, Collection

from onair_api.errors import ResourceExhausted
from onair_api.live.room.kept_values import KeptValues
from onair_crds.contract.rooms import identities

RESERVED_S = 30
"""How long an identity waits for its participant, whose token was just made."""
REMEMBERED_S = 86_400
MOST_JOINS = 50
"""Participants of one user in one room: those who open one guest code are one. So many may each have all that
is read of one, and the list of the room is still read."""
MOST_WATCHING = 200
"""The same of a user who only watches, and so has no more about them than their token says."""


class JoinIdentities:
    def __init__(self, values: KeptValues) -> None:
        self._values = values

    async def assign(
        self,
        room: str,
        user: str,
        token: str,
        present: Collection[str],
        barred: Callable[[str], bool],
        lineage: str | None = None,
        most: int = MOST_JOINS,
    ) -> str:
        """The identity of whoever joins with an access token.

        The same token gets the same identity again, and so takes it over from itself. Another token of the
        same user gets the lowest number that is neither in the room nor about to be.

        Args:
            room: names this opening of the room.
            token: fingerprint of the access token.
            present: identities in the room.
            barred: whether an identity may not be used.
            lineage: mark of the access token's lineage; None if it has none.
            most: participants of the user.

        Raises:
            ResourceExhausted: the user is in the room too often.
        """
        possible = [identities(user, number) for number in range(1, most + 1)]
        # Not kept by tokens, of which a user may have any number in a day
        tokens = await self._values.get_all([f"{room}:by:{each}" for each in possible])
        for identity, last in zip(possible, tokens, strict=True):
            if last == token and not barred(identity):
                return identity
        for identity in possible:
            if identity in present or barred(identity):
                continue
            if await self._values.claim(f"{room}:next:{identity}", token, RESERVED_S):
                await self._values.put(f"{room}:by:{identity}", token, REMEMBERED_S)
                # Always: the identity may have been another's
                await self._values.put(f"{room}:lineage:{identity}", lineage or "", REMEMBERED_S)
                return identity
        raise ResourceExhausted("this user is in the room too many times", retry_after_s=RESERVED_S)

    async def token_of(self, room: str, identity: str) -> str | None:
        """Fingerprint of the access token that last got an identity; None if it is not known any more."""
        return await self._values.get(f"{room}:by:{identity}")

    async def lineage_of(self, room: str, identity: str) -> str | None:
        """Mark of that token's lineage; None if it has none, or it is not known."""
        return await self._values.get(f"{room}:lineage:{identity}") or None
