"""Guest codes: urls with tokens, names of Secrets."""

from __future__ import annotations

import pytest

from onair_api.auth.guest_codes import secret_name, with_token


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example", "https://a.example?at=T"),
        ("https://a.example/x?b=1&flag#f", "https://a.example/x?b=1&flag&at=T#f"),
        ("https://a.example/?at=old&b=%20", "https://a.example/?b=%20&at=T"),
        (
            "https://b\u00fc.example/\u4e2d?q=%2F#\u00e9",
            "https://b%C3%BC.example/%E4%B8%AD?q=%2F&at=T#%C3%A9",
        ),
    ],
)
def test_the_token_is_a_parameter_of_the_url(url: str, expected: str) -> None:
    assert with_token(url, "T") == expected


def test_a_codes_name_tells_nothing_and_depends_on_the_service() -> None:
    names = {secret_name("studio", "abc"), secret_name("studi", "oabc"), secret_name("studio", "abd")}
    assert len(names) == 3
    assert all("abc" not in name and len(name) <= 63 for name in names)
