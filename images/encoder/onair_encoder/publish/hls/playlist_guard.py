"""Stores a playlist unless another encoder's is there: with conditional writes where the bucket has them."""

from __future__ import annotations

from onair_crds.runtime.stderr_log import log
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.bucket import ABSENT
from onair_encoder.publish.hls.large_text import read_through
from onair_encoder.publish.hls.object_store import ObjectStore
from onair_encoder.publish.hls.presentation import Presentation
from onair_encoder.publish.hls.storage_error import Changed, ConditionsUnsupported, NotReadable

NO_ETAG = '"00000000000000000000000000000000"'
"""No object has it: a bucket that takes a write on that condition ignores conditions."""
MOST_PAUSE = 64
"""Playlists between two attempts to learn whether a bucket heeds conditions, where each of them fails."""


class PlaylistGuard:
    def __init__(self, store: ObjectStore, presentation: Presentation, copy: str = "") -> None:
        """
        Args:
            copy: another name that the playlist is stored under; empty for its own.
        """
        self._copy = copy
        self._displaced_by = presentation.copy_displaced_by if copy else presentation.displaced_by
        self._store = store
        self._presentation = presentation
        self._etag = ""
        """Of the playlist that is known to be stored; empty if that is not known."""
        self._conditional: bool | None = None
        """Whether the bucket heeds conditions; None until that is known."""
        self._untried = 0
        """Playlists to be stored before that is tried again."""
        self._pause = 1
        self._readable = True
        """The credentials allow it."""
        self._created = False
        """Whether it is known if it can be stored where there is none."""
        self.others: str | None = None
        """The playlist of the encoder that has taken over; None if it is not known."""

    @property
    def _name(self) -> str:
        return self._copy or self._presentation.index

    async def read(self) -> str:
        """The stored playlist; empty if there is none.

        Raises:
            NotReadable: the credentials do not allow it.
            SessionError: it is not known, or another encoder has taken over.
        """
        try:
            found = await self._store.get(self._name, self._presentation.most_read)
        except NotReadable:
            self._readable = False
            raise
        self.others = None
        if other := self._displaced_by(found.text):
            self.others = found.text
            raise self._displaced(other)
        if not self._copy:
            self._presentation.overtake(await read_through(found.text, self._presentation.stored_late))
        self._etag = found.etag
        return found.text

    def _displaced(self, other: str) -> SessionError:
        self._etag = ""
        bucket = self._presentation.storage.bucket
        return SessionError(f"{other} writes to bucket {bucket} under this prefix", displaced=True)

    async def store(self, text: bytes) -> None:
        """Stores a playlist, unless another encoder's has taken its place.

        Raises:
            SessionError: it is not known to be stored, or another encoder has taken over.
        """
        if self._conditional and self._etag:
            try:
                await self._store_if_unchanged(text)
            except ConditionsUnsupported:
                # Another storage serves the bucket now
                self._conditional = False
            else:
                return
        if self._readable:
            await self._read_if_allowed()
        if self._readable or self._copy or not await self._created_anew(text):
            await self._put(text)
        if self._conditional is None and self._etag:
            await self._try_conditions(text)

    async def _created_anew(self, text: bytes) -> bool:
        """Whether it is stored where there was none; tried until the bucket has said so, or that it cannot.

        Raises:
            SessionError: it is not known to be stored.
        """
        if self._created:
            return False
        created = False
        try:
            await self._put(text, ABSENT)
            created = True
        except Changed:
            self._presentation.leave_unread()
        except ConditionsUnsupported:
            pass
        self._created = True
        return created

    async def _put(self, text: bytes, if_match: str = "") -> None:
        self._etag = await self._store.put_playlist(self._name, text, if_match)

    async def _read_if_allowed(self) -> bool:
        try:
            await self.read()
        except NotReadable:
            return False
        return True

    async def _store_if_unchanged(self, text: bytes) -> None:
        try:
            await self._put(text, self._etag)
            self._pause = 1
            return
        except Changed:
            if not await self._read_if_allowed():
                raise self._displaced("another encoder or broadcast") from None
        # What is there is of no higher epoch, or this very write, whose response was lost
        try:
            await self._put(text, self._etag)
        except Changed:
            log("hls.conditions-unusable", bucket=self._presentation.storage.bucket)
            self._try_later()
            await self._put(text)

    async def _try_conditions(self, text: bytes) -> None:
        """Stores the same again, on a condition that cannot hold."""
        if self._untried:
            self._untried -= 1
            return
        try:
            await self._put(text, NO_ETAG)
            self._conditional = False
        except Changed:
            self._conditional = True
        except ConditionsUnsupported:
            self._conditional = False
        except SessionError:
            self._try_later()

    def _try_later(self) -> None:
        """That a storage was unavailable, or another writer came between, says nothing of conditions."""
        self._conditional = None
        self._untried, self._pause = self._pause, min(2 * self._pause, MOST_PAUSE)
