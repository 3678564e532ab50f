"""Where guests may be led to."""

from __future__ import annotations

import pytest

from onair_api.auth.guest_links import GuestLinks, is_http_url
from onair_api.settings import GuestLinkSettings
from onair_crds.contract.inside_addresses import InsideRules


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a",
        "//a",
        "ftp://a",
        "javascript:x",
        "https://",
        "https:///x",
        "http://[",
        "http://a b",
        "https://a.example\\@b.example",
        "http://a\n",
    ],
)
def test_what_is_no_http_url(url: str) -> None:
    assert not is_http_url(url)


def links(**settings: list[str]) -> GuestLinks:
    return GuestLinks(GuestLinkSettings.model_validate(settings), InsideRules())


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://studio.example/join", None),
        ("https://STUDIO.example:8443/join", None),
        ("http://studio.example/join", "https"),
        ("http://localhost:3000/", "https"),
        ("https://localhost/", "inside"),
        ("https://10.0.0.1/", "inside"),
        ("https://a.example:99999/", "port"),
        ("javascript:alert(1)", "https"),
    ],
)
def test_guests_are_led_outside_by_https_alone(url: str, said: str | None) -> None:
    refusal = links().refusal(url)
    assert (refusal is None) if said is None else said in str(refusal)


def test_hosts_of_development_may_be_named_by_http() -> None:
    local = links(insecure_hosts=["localhost"])
    assert local.refusal("http://localhost:3000/join") is None
    assert local.refusal("http://studio.example/") is not None


def test_origins_restrict_further_and_admit_what_is_inside() -> None:
    named = links(origins=["https://studio.corp.internal", "https://b.example:8443"])
    found = {
        url: named.refusal(url) is None
        for url in (
            "https://studio.corp.internal/join",
            "https://studio.corp.internal:443/",
            "https://studio.corp.internal.evil.example/",
            "https://studio.corp.internal@evil.example/",
            "https://b.example:8443/",
            "https://b.example/",
            "https://a.example/",
        )
    }
    assert list(found.values()) == [True, True, False, False, True, False, False]
