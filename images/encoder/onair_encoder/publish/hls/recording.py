"""A recording: its playlist names every segment, and nothing is ever deleted."""

from __future__ import annotations

from onair_crds.contract.program import ProgramStorage
from onair_encoder.publish.hls.presentation import INDEX, Presentation, Writer, is_recording

PLAYLIST_BYTES_PER_S = 50_000
"""A long recording's playlist is stored less often, so that it takes no more of the upload bandwidth."""
BEHIND_PLAYLIST_S = 10.0
"""How often the playlist is stored while more segments wait: it takes of the upload bandwidth."""


class Recording(Presentation):
    """The names of its segments are never those of a live window, which would delete them."""

    def __init__(self, storage: ProgramStorage, writer: Writer) -> None:
        super().__init__(storage, writer)
        self.prefix = f"{writer.broadcast}_rec-"
        self.index = f"{writer.broadcast}.m3u8"
        # A playlist of its own: the next run's does not replace it
        self.indexes = [self.index, INDEX]
        self._stored_at, self._stored_bytes = 0.0, 0

    @property
    def _window(self) -> int | None:
        return None

    @property
    def spool_s(self) -> float | None:
        return None

    @property
    def complete(self) -> bool:
        """It has its longest duration."""
        limit_ms = self.storage.max_duration_ms
        return limit_ms > 0 and self.playlist.total_s * 1000 >= limit_ms

    def resume(self, text: str) -> None:
        if is_recording(text):
            self._resume_own(text)

    def is_playlist_due(self, now: float, *, last: bool) -> bool:
        """Ever less often as it grows, but always at its end."""
        if self.playlist.ended:
            return True
        pause_s = self._stored_bytes / PLAYLIST_BYTES_PER_S
        return now >= self._stored_at + (pause_s if last else max(pause_s, BEHIND_PLAYLIST_S))

    def playlist_stored(self, now: float, size: int) -> None:
        self._stored_at, self._stored_bytes = now, size

    def obsolete(self) -> list[str]:
        return []

    def deleted(self, name: str) -> None:
        """Never called: nothing is obsolete."""
