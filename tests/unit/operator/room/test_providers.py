"""Providers of rooms: their keys come from mounted Secrets."""

from __future__ import annotations

from pathlib import Path

from onair_operator.room.providers import RtcProviders
from onair_operator.settings import RtcProviderSettings, RtcSettings

SECRET = "a secret that is known to nobody else"


def test_a_rotated_key_counts_without_a_restart(tmp_path: Path) -> None:
    settings = RtcProviderSettings(
        app_id="studio", type="livekit", url="wss://rooms.example", credentials=tmp_path
    )
    providers = RtcProviders(RtcSettings(providers=[settings]))
    assert not providers.known()["studio"].usable
    for number in (1, 2):
        (tmp_path / "apiKey").write_text(f"key {number}\n")
        (tmp_path / "apiSecret").write_text(f"{SECRET} {number}\n")
        known = providers.known()["studio"]
        assert (known.api_key, known.api_secret) == (f"key {number}", f"{SECRET} {number}")
        assert SECRET not in repr(known)
