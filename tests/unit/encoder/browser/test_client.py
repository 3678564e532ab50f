"""What the agent wants of the browser."""

from __future__ import annotations

import json

import pytest
from tests.support.small_program import small_program

from onair_crds.contract.program import ProgramVideo
from onair_encoder.browser.client import BrowserClient
from onair_encoder.browser.page_keeper import PageKeeper


def video(width: int = 640, height: int = 360, framerate: float = 30) -> ProgramVideo:
    return small_program().video.model_copy(update={"width": width, "height": height, "framerate": framerate})


def loaded(client: BrowserClient) -> None:
    """The browser says that what is wanted is shown."""
    client.loaded = True


@pytest.mark.parametrize(
    ("request_", "stays"),
    [
        (("https://a.example", video(), "one"), True),
        (("https://a.example", video(), "two"), True),
        (("https://a.example", video(framerate=25), "one"), True),
        (("https://a.example", video(), None), False),
        (("https://a.example", video(height=480), "one"), False),
        (("https://b.example", video(), "one"), False),
    ],
)
def test_another_script_or_rate_takes_no_page_off_air(
    request_: tuple[str, ProgramVideo, str | None], stays: bool
) -> None:
    client = BrowserClient(lambda: None)
    client.want("https://a.example", video(), "one")
    loaded(client)
    client.want(*request_)
    assert client.loaded is stays


def test_a_keeper_that_knows_of_no_scripts_is_not_told_of_none() -> None:
    client = BrowserClient(lambda: None)
    client.want("https://a.example", video(framerate=25))
    keeper = PageKeeper()
    keeper.want(json.loads(json.dumps(client._wanted)))
    rates = {"tickUs": 20_000, "sparingTickUs": 40_000}
    assert keeper.wanted == {"url": "https://a.example", "width": 640, "height": 360, **rates}
