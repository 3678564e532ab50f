"""Which proxy leads to an API server, and what may be said of it."""

from __future__ import annotations

import base64

import pytest

from onair_crds.kube.proxy import proxy_of, without_password


def test_a_proxys_password_is_in_no_url() -> None:
    assert without_password("http://proxy:3128") == ("http://proxy:3128", None)
    url, headers = without_password("http://me:p%40ss@proxy:3128/")
    assert url == "http://proxy:3128/"
    assert headers == {"Proxy-Authorization": "Basic " + base64.b64encode(b"me:p@ss").decode()}


def test_an_ipv6_api_server_is_excepted_from_the_proxy_by_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "fd00::1")
    assert proxy_of("https://[fd00::1]:443") is None
    assert proxy_of("https://[fd00::2]:443") == "http://proxy:3128"


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://proxy:3128"}, "http://proxy:3128"),
        ({"https_proxy": "http://proxy:3128", "no_proxy": "other.example"}, "http://proxy:3128"),
        ({"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "10.96.0.1"}, None),
        ({"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "*"}, None),
        ({"HTTP_PROXY": "http://proxy:3128"}, None),
        ({"HTTPS_PROXY": "https://proxy:3128"}, None),
    ],
)
def test_the_proxy_of_an_api_server_is_that_of_the_environment(
    environment: dict[str, str], proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_of("https://10.96.0.1:443") == proxy
