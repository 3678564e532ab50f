"""Whether what is played of a stream arrives. Pure."""

from __future__ import annotations

LOOK_S = 0.5
STALLED_LOOKS = 10
FIRST_MEDIA_LOOKS = 30
"""The server plays video from its next key frame on, and encoders send them up to 10 s apart."""


class PlayProgress:
    """Counts the looks by which the server had received more of a stream, and nothing of it had arrived here.

    It counts looks and not time: one that follows a pause of this process, or of the server, is one look.
    """

    def __init__(self) -> None:
        self._inbound_bytes: int | None = None
        self._arrived = self._still = 0

    def is_stalled(self, inbound_bytes: int | None, arrived: int, *, has_media: bool) -> bool:
        """Takes a look, one each LOOK_S.

        Args:
            inbound_bytes: how much the server has received of the stream; None if that is not known.
            arrived: how many messages of the stream have been received from the server.
            has_media: whether any of these was more than a configuration.
        """
        has_grown = None not in (inbound_bytes, self._inbound_bytes) and inbound_bytes != self._inbound_bytes
        if arrived != self._arrived:
            self._still = 0
        elif has_grown:
            self._still += 1
        self._inbound_bytes, self._arrived = inbound_bytes, arrived
        return self._still >= (STALLED_LOOKS if has_media else FIRST_MEDIA_LOOKS)
