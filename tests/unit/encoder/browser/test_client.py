"""What the agent wants of the browser."""

from __future__ import annotations

import json

import pytest

from onair_encoder.browser.client import BrowserClient
from onair_encoder.browser.page_keeper import PageKeeper


def loaded(client: BrowserClient) -> None:
    """The browser says that what is wanted is shown."""
    client.loaded = True


@pytest.mark.parametrize(
    ("request_", "stays"),
    [
        (("https://a.example", 640, 360, "one"), True),
        (("https://a.example", 640, 360, "two"), True),
        (("https://a.example", 640, 360, None), False),
        (("https://a.example", 640, 480, "one"), False),
        (("https://b.example", 640, 360, "one"), False),
    ],
)
def test_another_script_alone_takes_no_page_off_air(
    request_: tuple[str, int, int, str | None], stays: bool
) -> None:
    client = BrowserClient(lambda: None)
    client.want("https://a.example", 640, 360, "one")
    loaded(client)
    client.want(*request_)
    assert client.loaded is stays


def test_a_keeper_that_knows_of_no_scripts_is_not_told_of_none() -> None:
    client = BrowserClient(lambda: None)
    client.want("https://a.example", 640, 360)
    keeper = PageKeeper()
    keeper.want(json.loads(json.dumps(client._wanted)))
    assert keeper.wanted == {"url": "https://a.example", "width": 640, "height": 360}
