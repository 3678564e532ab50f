"""The page is opened with its token, and not again for another one alone."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from tests.support.small_program import small_program

from onair_crds.contract.pod import COMPOSITOR_URL
from onair_crds.contract.program import Program
from onair_crds.contract.scene import ProgramScene
from onair_encoder.agent.page_address import PageAddress, address

TOKEN = "t"


def program(url: str, token: str | None = TOKEN, *, debug: bool = False) -> Program:
    secret = SecretStr(token) if token else None
    return small_program(composition_url=url, page_token=secret, scene=ProgramScene(debug=debug))


@pytest.mark.parametrize(
    ("url", "token", "debug", "expected"),
    [
        ("https://a.example/", None, False, "https://a.example/"),
        ("https://a.example/?q=%20a", None, False, "https://a.example/?q=%20a"),
        ("https://a.example/x", "t", False, "https://a.example/x?at=t"),
        ("https://a.example/x?b=1&b=2&c=#d", "t", True, "https://a.example/x?b=1&b=2&c=&at=t&debug=true#d"),
        ("https://a.example/?at=old&debug=0", "t", False, "https://a.example/?debug=0&at=t"),
        ("https://a.example:80443/", "t", False, "https://a.example:80443/?at=t"),
        ("https://a.ex℀mple/", "t", True, "https://a.ex℀mple/"),
    ],
)
def test_the_token_is_added_and_the_rest_is_kept(
    url: str, token: str | None, debug: bool, expected: str
) -> None:
    assert address(url, token, debug=debug) == expected


def test_another_token_alone_is_no_new_page() -> None:
    page = PageAddress()
    first = page.of(program("https://a.example/", None))
    assert page.of(program("https://a.example/", "one")) == first
    assert page.of(program("https://b.example/", "two")) == "https://b.example/?at=two"


def test_the_built_in_page_is_told_of_debug_without_being_loaded_again() -> None:
    page = PageAddress()
    first = page.of(program(COMPOSITOR_URL))
    assert first == f"{COMPOSITOR_URL}?at=t"
    assert page.of(program(COMPOSITOR_URL, debug=True)) == first
    other = PageAddress()
    other.of(program("https://a.example/"))
    assert other.of(program("https://a.example/", debug=True)) == "https://a.example/?at=t&debug=true"
