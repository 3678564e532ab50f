"""Service workers of a page that is gone are ended, those of the page that is shown are not."""

from __future__ import annotations

from onair_encoder.browser.cdp import CdpError
from onair_encoder.browser.cdp_messages import Message
from onair_encoder.browser.left_workers import LeftWorkers


class RecordingBrowser:
    """Keeps what it is asked to clear; refuses one origin."""

    def __init__(self, refused: str = "") -> None:
        self.cleared: list[str] = []
        self._refused = refused

    async def call(self, method: str, params: Message) -> Message:
        assert method == "Storage.clearDataForOrigin"
        if params["origin"] == self._refused:
            raise CdpError("no such origin")
        self.cleared.append(params["origin"])
        return {}


def left(browser: RecordingBrowser, *urls: str, kind: str = "service_worker") -> LeftWorkers:
    workers = LeftWorkers(browser.call)
    for url in urls:
        workers.event("Target.targetCreated", {"targetInfo": {"type": kind, "url": url}})
    return workers


async def test_all_but_those_of_the_page_are_ended_once() -> None:
    browser = RecordingBrowser()
    workers = left(browser, "https://a.example/w.js", "https://b.example:8443/w.js", "https://c.example/w.js")
    await workers.end("https://user@A.example:443/page")
    assert sorted(browser.cleared) == ["https://b.example:8443", "https://c.example"]
    await workers.end("https://d.example/")
    assert browser.cleared[2:] == ["https://a.example"]


async def test_an_address_without_an_origin_has_none_and_is_none() -> None:
    browser = RecordingBrowser()
    workers = left(browser, "https://a.example/w.js", "https://b.ex℀mple/w.js", "")
    await workers.end("https://c.ex℀mple/")
    assert browser.cleared == ["https://a.example"]


async def test_what_is_no_service_worker_is_left_alone() -> None:
    browser = RecordingBrowser()
    await left(browser, "https://a.example/", kind="page").end("https://b.example/")
    assert browser.cleared == []


async def test_one_that_the_browser_refuses_keeps_no_other() -> None:
    browser = RecordingBrowser("https://a.example")
    await left(browser, "https://a.example/w.js", "https://b.example/w.js").end("https://c.example/")
    assert browser.cleared == ["https://b.example"]
