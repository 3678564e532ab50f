"""When a programme counts as on air: by a key frame of its page, or by the slate where the page is late."""

from __future__ import annotations

import datetime as dt
import time

from onair_crds.contract.times import format_time
from onair_encoder.agent.page import Page
from onair_encoder.encode.client import ProgressClient
from onair_encoder.media.fan_out import FanOut
from onair_encoder.media.slate_switch import Switch


class FirstFrame:
    def __init__(self, page: Page, switch: Switch, fan_out: FanOut, encode_progress: ProgressClient) -> None:
        self.at: str | None = None
        """When the first media went out, be it the slate; None while the programme is not on air."""
        self._page, self._switch, self._fan_out = page, switch, fan_out
        self._encode_progress = encode_progress
        self._shown_at: float | None = None
        """Monotonic time since when the page is on the screen; None while it is not."""
        self._page_due: float | None = None
        """Monotonic time from when the slate counts as on air."""

    def expect(self, page_timeout_ms: int) -> None:
        """Begins with a programme, whose page has so long to get ready."""
        self._page_due = time.monotonic() + page_timeout_ms / 1000

    def seen(self) -> bool:
        """Whether the programme is on air; to be called several times a second until it is."""
        if not self._on_air():
            return False
        first_at = dt.datetime.fromtimestamp(self._fan_out.first_keyframe_at or time.time(), dt.UTC)
        self.at = self.at or format_time(first_at)
        return True

    def _on_air(self) -> bool:
        if self._switch.on_slate and self._page_is_late:
            return True
        if not self._page.shown:
            self._shown_at = None
            return False
        if self._shown_at is None:
            self._shown_at = time.monotonic()
        keyframe_at = self._fan_out.last_keyframe_at
        return keyframe_at is not None and keyframe_at >= self._shown_at and not self._switch.on_slate

    @property
    def _page_is_late(self) -> bool:
        """The encode runs, and the page is not ready in time. Without an encode the encoder is what fails."""
        due = self._page_due
        return due is not None and time.monotonic() >= due and self._encode_progress.now.frames > 0
