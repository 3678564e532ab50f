"""A passphrase comes out of an url and goes back into it; the rest of the url stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_api.live.destination.passphrase import with_passphrase, without_passphrase


@pytest.mark.parametrize(
    ("url", "rest", "phrase"),
    [
        ("srt://a:1", "srt://a:1", None),
        ("srt://a:1?streamid=%41+b", "srt://a:1?streamid=%41+b", None),
        ("srt://a:1?passphrase=p%26q", "srt://a:1", "p&q"),
        ("srt://a:1?x=1&PassPhrase=p&y=2", "srt://a:1?x=1&y=2", "p"),
        ("srt://a:1?pass%70hrase=p", "srt://a:1", "p"),
        ("srt://a:1?streamid=#!::r=x&passphrase=p", "srt://a:1?streamid=#!::r=x", "p"),
        ("srt://a:1?passphrase=", "srt://a:1", None),
        ("srt://a:1?passphrase=p&passphrase=q", "srt://a:1", "q"),
    ],
)
def test_it_is_taken_out(url: str, rest: str, phrase: str | None) -> None:
    assert without_passphrase(url) == (rest, phrase)


@given(st.text(min_size=1), st.sampled_from(["srt://a:1", "srt://a:1?streamid=s", "srt://a:1/?x=#!::r=y"]))
def test_it_goes_back_in(phrase: str, url: str) -> None:
    assert without_passphrase(with_passphrase(url, phrase)) == (url, phrase)
