"""What the agent wants of the browser."""

from __future__ import annotations

import json

import pytest
from tests.support.small_program import small_program

from onair_crds.contract.program import ProgramVideo
from onair_encoder.browser.client import BrowserClient
from onair_encoder.browser.page_keeper import PageKeeper
from onair_encoder.encode.paint import Paints


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
    rates = {"tickUs": 20_000, "reducedTickUs": 40_000}
    assert keeper.wanted == {"url": "https://a.example", "width": 640, "height": 360, **rates}


def said(client: BrowserClient, **state: object) -> None:
    """The browser's container reports."""
    usual = {"url": "https://a.example", "loaded": True, "error": None, "paintDelaysMs": [3.0]}
    client._received({**usual, **state})


def test_paints_are_those_that_the_screen_was_told_for_what_is_wanted() -> None:
    client = BrowserClient(lambda: None)
    client.want("https://a.example", video())
    assert client.paints == Paints(16_667)
    said(client, tickUs=16_667, paintTickUs=33_334)
    assert client.paints == Paints(33_334, (3.0,))
    client.want("https://a.example", video(framerate=25))
    assert client.paints == Paints(20_000, (3.0,))
    said(client, tickUs=16_667, paintTickUs=33_334)
    assert client.paints == Paints(20_000, (3.0,)), "it has not heard of the other rate yet"
    said(client, tickUs=20_000, paintTickUs=None)
    assert client.paints == Paints(20_000, (3.0,)), "it leaves the rate to the screen"
    said(client, tickUs=20_000, paintTickUs=40_000)
    assert client.paints == Paints(40_000, (3.0,))


def test_a_browser_is_confined_while_it_says_so() -> None:
    client = BrowserClient(lambda: None)
    client.want("https://a.example", video())
    for confined in (True, False):
        said(client, tickUs=16_667, paintTickUs=33_334, confined=confined)
        assert client.confined is confined
    said(client, tickUs=16_667, paintTickUs=33_334)
    assert not client.confined, "a browser's container of a version before says nothing"


class Lines:
    """What is written, one line each."""

    def __init__(self) -> None:
        self.reduced: list[object] = []

    def write(self, line: bytes) -> None:
        self.reduced.append(json.loads(line)["reducedTickUs"])


def test_captures_that_are_out_of_step_allow_no_reduced_rate() -> None:
    client, lines = BrowserClient(lambda: None), Lines()
    client._writer = lines  # type: ignore[assignment]
    client.want("https://a.example", video())
    for reducible in (False, False, True):
        client.set_reducible(reducible)
    assert lines.reduced == [33_334, None, 33_334]
