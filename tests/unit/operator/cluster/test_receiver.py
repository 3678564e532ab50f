"""The password of the built-in MediaMTX goes there and nowhere else."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from onair_operator.cluster.receiver import Receiver

HOST = "onair-mediamtx.onair-system.svc"
RECEIVER = Receiver(frozenset({f"{HOST}:1935"}), "a-password")
URL = f"rtmp://{HOST}:1935/live"


@pytest.mark.parametrize(
    ("url", "key", "expected"),
    [
        (URL, "sunday", (URL, "sunday?user=publisher&pass=a-password")),
        (f"rtmp://{HOST}/live", "sunday", (f"rtmp://{HOST}/live", "sunday?user=publisher&pass=a-password")),
        (f"rtmp://{HOST.upper()}/a", "b", (f"rtmp://{HOST.upper()}/a", "b?user=publisher&pass=a-password")),
        (f"{URL}/sunday", None, (URL, "sunday?user=publisher&pass=a-password")),
        (f"{URL}/sunday/", None, (URL, "sunday?user=publisher&pass=a-password")),
        # With credentials of its own
        (URL, "sunday?user=a&pass=b", (URL, "sunday?user=a&pass=b")),
        (f"{URL}/sunday?user=a&pass=b", None, (f"{URL}/sunday?user=a&pass=b", None)),
        # To somebody else
        ("rtmp://media.example/live", "sunday", ("rtmp://media.example/live", "sunday")),
        (f"rtmp://{HOST}.example/live", "a", (f"rtmp://{HOST}.example/live", "a")),
        (f"rtmp://{HOST}@media.example/live", "a", (f"rtmp://{HOST}@media.example/live", "a")),
        (f"rtmp://media.example/{HOST}:1935/live", "a", (f"rtmp://media.example/{HOST}:1935/live", "a")),
        (f"rtmp://{HOST}:1936/live", "sunday", (f"rtmp://{HOST}:1936/live", "sunday")),
        (f"rtmps://{HOST}:1935/live", "sunday", (f"rtmps://{HOST}:1935/live", "sunday")),
        (f"srt://{HOST}:1935", None, (f"srt://{HOST}:1935", None)),
        (f"rtmp://{HOST}:1935", None, (f"rtmp://{HOST}:1935", None)),
    ],
)
def test_a_stream_to_it_has_the_password(url: str, key: str | None, expected: tuple[str, str | None]) -> None:
    found_url, found = RECEIVER.with_password(url, SecretStr(key) if key else None)
    assert (found_url, found.get_secret_value() if found else None) == expected


def test_the_password_is_not_printed() -> None:
    assert "a-password" not in repr(RECEIVER)
    assert "a-password" not in repr(RECEIVER.with_password(URL, SecretStr("sunday")))
