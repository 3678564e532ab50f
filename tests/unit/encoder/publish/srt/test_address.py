"""Addresses of SRT, and the secrets that no text of them has."""

from __future__ import annotations

import pytest

from onair_crds.session_error import SessionError
from onair_encoder.publish.srt.address import SrtAddress, checked_passphrase


@pytest.mark.parametrize(
    ("url", "key", "expected"),
    [
        ("srt://a.example:9000", None, ("a.example:9000", "", 120, 16)),
        ("srt://a.example:9000", "k", ("a.example:9000", "k", 120, 16)),
        ("srt://a.example:9000?streamid=s&latency=400", "k", ("a.example:9000", "s", 400, 16)),
        ("srt://a.example:9000/?StreamId=a%2Fb+c&pbkeylen=32&mode=caller&tlpktdrop=1", None,
         ("a.example:9000", "a/b+c", 120, 32)),
        ("srt://a.example:9000?streamid=#!::r=live/k,m=publish", None,
         ("a.example:9000", "#!::r=live/k,m=publish", 120, 16)),
        ("srt://[2001:db8::1]:9000", None, ("[2001:db8::1]:9000", "", 120, 16)),
    ],
)  # fmt: skip
def test_addresses(url: str, key: str | None, expected: tuple[str, str, int, int]) -> None:
    address = SrtAddress.of(url, key)
    assert (address.server, address.stream_id, address.latency_ms, address.key_bytes) == expected


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("srt://:9000", "no server"),
        ("srt://a.example", "no port"),
        ("srt://a.example:99999", "not a number"),
        ("srt://a.example:9000?mode=listener", "mode other than caller"),
        ("srt://a.example:9000?latency=soon", "latency"),
        ("srt://a.example:9000?latency=30001", "latency"),
        ("srt://a.example:9000?pbkeylen=8", "pbkeylen"),
        ("srt://a.example:9000?passphrase=0123456789", "belongs in a Secret"),
        (f"srt://a.example:9000?streamid={'x' * 513}", "longer than 512"),
    ],
)
def test_unusable_addresses_say_why(url: str, words: str) -> None:
    with pytest.raises(SessionError, match=words) as lost:
        SrtAddress.of(url, None)
    assert lost.value.permanent
    assert "0123456789" not in str(lost.value)


def test_a_stream_id_and_a_passphrase_are_in_no_text() -> None:
    assert "s3cret" not in repr(SrtAddress.of("srt://a.example:1?streamid=s3cret", None))
    with pytest.raises(SessionError) as lost:
        checked_passphrase("s3cret")
    assert "s3cret" not in str(lost.value)
