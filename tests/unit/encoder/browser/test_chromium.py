"""A page that is asked at the moment of a navigation is asked again; one without frames is lost."""

from __future__ import annotations

import asyncio
import contextlib
import itertools

import pytest

from onair_encoder.browser import chromium as chromium_module
from onair_encoder.browser import first_paint
from onair_encoder.browser.cdp import CdpClosed, CdpError, CdpTimeout
from onair_encoder.browser.cdp_messages import Message
from onair_encoder.browser.chromium import FRAME, NEXT_FRAME, Chromium
from onair_encoder.browser.page_error import PageError


class Navigating(Chromium):
    """Refuses so many calls before it answers."""

    def __init__(self, refusals: int) -> None:
        super().__init__()
        self.refusals, self.asked = refusals, 0

    async def _page(self, method: str, params: Message | None = None, timeout_s: float = 0) -> Message:
        if params and params.get("expression") == FRAME:
            return {"result": {"value": True}}
        self.asked += 1
        if self.asked <= self.refusals:
            raise CdpError(f"{method}: Execution context was destroyed.")
        return {"result": {"value": [200, "page.example", None, None]}}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium_module, "CHECK_RETRY_S", 0.0)


@pytest.mark.parametrize("refusals", [0, 1, 3])
async def test_a_navigation_under_way_is_no_crash(refusals: int) -> None:
    chromium = Navigating(refusals)
    await chromium.check()
    assert chromium.asked == refusals + 1


async def test_a_page_that_never_answers_is_lost() -> None:
    chromium = Navigating(100)
    with pytest.raises(CdpClosed, match="does not respond"):
        await chromium.check()
    assert chromium.asked == 4


class Frozen(Chromium):
    """Answers, and gives no frame."""

    def __init__(self, failure: CdpError | CdpTimeout, status: int = 200) -> None:
        super().__init__()
        self._failure, self._status = failure, status

    async def _page(self, method: str, params: Message | None = None, timeout_s: float = 0) -> Message:
        if params and params.get("awaitPromise"):
            raise self._failure
        return {"result": {"value": [self._status, "page.example", "onair:loading", None]}}


async def test_a_page_that_answers_and_has_no_frames_is_lost() -> None:
    with pytest.raises(CdpClosed, match="no frames"):
        await Frozen(CdpTimeout("Runtime.evaluate")).check()


async def test_a_page_that_navigates_before_its_next_frame_is_not_lost() -> None:
    chromium = Frozen(CdpError("Inspected target navigated or closed"))
    await chromium.check()
    assert chromium.loading


async def test_the_error_of_a_page_is_known_before_its_next_frame() -> None:
    with pytest.raises(PageError, match="HTTP 503"):
        await Frozen(CdpTimeout("Runtime.evaluate"), status=503).check()


class Loading(Chromium):
    """Answers a navigation as a test says."""

    def __init__(self, failure: CdpError | CdpTimeout | None) -> None:
        super().__init__()
        self._failure = failure
        self.asked: list[str] = []

    async def _page(self, method: str, params: Message | None = None, timeout_s: float = 0) -> Message:
        self.asked.append(method)
        if self._failure and method == "Page.navigate":
            raise self._failure
        return {"result": {"value": [200, "page.example", None, None]}}


@pytest.mark.parametrize("failure", [None, CdpError("refused"), CdpTimeout("no response")])
async def test_what_a_page_loads_after_its_document_is_not_reported(
    failure: CdpError | CdpTimeout | None,
) -> None:
    """Each response may be of megabytes, and would come as one message."""
    chromium = Loading(failure)
    with contextlib.suppress(PageError):
        await chromium.navigate("http://page.example/")
    await asyncio.sleep(0)
    network = [each for each in chromium.asked if each.startswith("Network.")]
    assert network == ["Network.enable", "Network.disable"]


@pytest.mark.parametrize("url", ["https://page.example:80443/", "https://page.ex℀mple/"])
async def test_what_a_browser_cannot_open_is_an_error_of_the_page(url: str) -> None:
    with pytest.raises(PageError, match="not an address that a browser can open"):
        await Loading(CdpError("Cannot navigate to invalid URL")).navigate(url)
    with pytest.raises(PageError, match="no response"):
        await Loading(CdpTimeout("no response")).navigate(url)


class Blank(Chromium):
    """Loads a document that paints nothing; says by the browser's events what else comes of it.

    Args:
        has_frames: it could paint, as its first animation frame has come.
    """

    def __init__(self, *, has_frames: bool) -> None:
        super().__init__()
        self._has_frames = has_frames

    async def _page(self, method: str, params: Message | None = None, timeout_s: float = 0) -> Message:
        match method, params or {}:
            case "Page.navigate", _:
                self._event("Page.frameNavigated", {"frame": {"id": "main", "loaderId": "page"}}, None)
                return {"loaderId": "page"}
            case "Runtime.evaluate", {"expression": expression} if expression == NEXT_FRAME:
                if not self._has_frames:
                    raise CdpTimeout(method)
        return {"result": {"value": [200, "page.example", None, None]}}


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium_module, "NAVIGATION_TIMEOUT_S", 0.2)
    monkeypatch.setattr(first_paint, "BLANK_TIMEOUT_S", 0.05)


@pytest.mark.usefixtures("short_waits")
async def test_a_page_that_cannot_paint_in_time_is_an_error() -> None:
    chromium = Blank(has_frames=False)
    with pytest.raises(PageError, match="the page has painted nothing within"):
        await chromium.navigate("http://page.example/")
    assert chromium.page is None


@pytest.mark.usefixtures("short_waits")
async def test_a_page_that_could_paint_and_does_not_is_shown_as_it_is() -> None:
    chromium = Blank(has_frames=True)
    await chromium.navigate("http://page.example/")
    assert chromium.page == "http://page.example/"


class Scripted(Chromium):
    """Keeps which scripts run before a page's own, and whether its policy holds."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: dict[str, str] = {}
        self.bypasses = False
        self.numbers = itertools.count()

    async def _page(self, method: str, params: Message | None = None, timeout_s: float = 0) -> Message:
        match method, params or {}:
            case "Page.addScriptToEvaluateOnNewDocument", {"source": source}:
                identifier = str(next(self.numbers))
                self.scripts[identifier] = source
                return {"identifier": identifier}
            case "Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier}:
                del self.scripts[identifier]
            case "Page.setBypassCSP", {"enabled": enabled}:
                self.bypasses = enabled
        return {"result": {"value": [200, "page.example", None, None]}}


async def test_a_script_runs_on_the_page_that_it_is_for_and_on_no_other() -> None:
    chromium, seen = Scripted(), []
    for script in (None, "one", "one", "two", None, "two"):
        await chromium.navigate("https://page.example", script)
        seen.append(([*chromium.scripts.values()], chromium.bypasses))
        assert chromium.script == script
    assert seen == [([], False), *[(["one"], True)] * 2, (["two"], True), ([], False), (["two"], True)]
    assert next(chromium.numbers) == 3, "the same script is there once"


async def test_the_end_of_another_session_than_the_pages_is_no_loss() -> None:
    chromium = Loading(None)
    chromium._session = "page"
    chromium._event("Target.detachedFromTarget", {"sessionId": "worker"}, None)
    assert not chromium.lost.is_set()
    chromium._event("Target.detachedFromTarget", {"sessionId": "page"}, None)
    assert chromium.lost.is_set()
