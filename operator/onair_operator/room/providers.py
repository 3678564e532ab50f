"""The providers of rooms that this installation has, with their keys, read from mounted Secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import structlog

from onair_operator.settings import RtcProviderSettings, RtcSettings

log = structlog.get_logger()

API_KEY, API_SECRET = "apiKey", "apiSecret"
"""Files of a provider's mounted Secret."""


@dataclass(frozen=True)
class RtcProvider:
    """A provider that tokens can be made for. The key's secret is never printed."""

    type: Literal["livekit"]
    url: str
    api_key: str = ""
    api_secret: str = field(default="", repr=False)
    services: frozenset[str] = frozenset()
    """Services that may use it; empty: all."""
    channel_prefix: str = ""
    """What channels begin with, in which `{serviceId}` is the tenant's."""

    @property
    def usable(self) -> bool:
        return bool(self.api_key and self.api_secret)


class RtcProviders:
    """Reads keys again when they were rotated: the kubelet swaps the files of a mounted Secret."""

    def __init__(self, settings: RtcSettings) -> None:
        self._settings = settings
        self._read_at: dict[str, int] = {}
        self._known: dict[str, RtcProvider] = {}

    def known(self) -> Mapping[str, RtcProvider]:
        """Providers by `appId`, also those without keys, which are unusable."""
        for provider in self._settings.providers:
            try:
                changed_ns = (provider.credentials / API_SECRET).stat().st_mtime_ns
            except OSError:
                changed_ns = 0
            if self._read_at.get(provider.app_id) != changed_ns:
                self._read_at[provider.app_id] = changed_ns
                self._known[provider.app_id] = _read(provider)
        return self._known


def _read(settings: RtcProviderSettings) -> RtcProvider:
    try:
        key, secret = ((settings.credentials / name).read_text().strip() for name in (API_KEY, API_SECRET))
    except (OSError, UnicodeDecodeError) as error:
        log.warning("rtc.credentials_missing", app_id=settings.app_id, error=type(error).__name__)
        key = secret = ""
    return RtcProvider(
        settings.type, settings.url, key, secret, frozenset(settings.services), settings.channel_prefix
    )
