"""A room, whatever its provider, and the table of providers. A new one takes a class and an entry."""

from __future__ import annotations

import asyncio
import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass

from onair_crds.contract.program import ProgramRtc
from onair_crds.media.stream_metadata import VideoFormat
from onair_crds.room_publisher.pipe import SessionProgress
from onair_crds.session_error import SessionError


@dataclass(frozen=True)
class Frame:
    """An access unit of H.264 in Annex B form."""

    data: bytes
    keyframe: bool
    width: int
    height: int


class RoomSession(ABC):
    """A session in a provider's room. It lives in a process of its own, so it may load what it needs.

    No text of a `SessionError` repeats what a provider's library says: that may hold the token.
    """

    def __init__(self, rtc: ProgramRtc) -> None:
        self.rtc = rtc
        self.lost: asyncio.Future[SessionError] = asyncio.get_running_loop().create_future()
        """Set when the session has ended without our doing."""

    @abstractmethod
    async def join(self) -> None:
        """Enters the room.

        Raises:
            SessionError: it was not let in.
        """

    @abstractmethod
    async def publish(self, video: VideoFormat) -> None:
        """Announces video and audio; the video again where they are announced already.

        Raises:
            SessionError: it may not, or got no response.
        """

    @abstractmethod
    def video(self, frame: Frame, capture_us: int) -> bool:
        """Sends a frame, of this time on the monotonic clock.

        False if it was not taken, and so those up to the next key frame are useless.
        """

    @abstractmethod
    def wants_keyframe(self) -> bool:
        """Whether somebody has requested a key frame since the last call."""

    @abstractmethod
    async def audio(self, pcm: bytes) -> None:
        """Sends 10 ms of audio."""

    @abstractmethod
    async def progress(self) -> SessionProgress: ...

    @abstractmethod
    async def leave(self) -> None:
        """Ends the session properly."""


PROVIDERS = {"livekit": "onair_crds.room_publisher.livekit_room:LiveKitRoom"}
"""By `ProgramRtc.provider`; loaded only in the room's process."""


def room_of(rtc: ProgramRtc) -> RoomSession:
    """A session, not joined yet, in a room of the provider that is wanted."""
    module, _, name = PROVIDERS[rtc.provider].partition(":")
    kind: type[RoomSession] = getattr(importlib.import_module(module), name)
    return kind(rtc)
