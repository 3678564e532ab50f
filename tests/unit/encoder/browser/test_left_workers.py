"""Workers of a page that is gone are ended, those of the page that is shown, and of its frames, are not."""

from __future__ import annotations

import asyncio

import pytest

from onair_encoder.browser.cdp import CdpClosed, CdpError
from onair_encoder.browser.cdp_messages import Message
from onair_encoder.browser.left_workers import LeftWorkers

SERVICE_WORKER, SHARED_WORKER = "service_worker", "shared_worker"


class RecordingBrowser:
    """Has workers, each with the storage key that its target is named by; keeps what it is asked to end."""

    def __init__(self, refused: str = "", unknown: str = "", gone: str = "") -> None:
        self.cleared: list[str] = []
        self.closed: list[str] = []
        self.attached: set[str] = set()
        self._refused, self._unknown, self._gone = refused, unknown, gone
        self.lost = False
        self.shown: tuple[str, ...] = ()
        """Addresses of the pages that are shown."""

    async def browser(self, method: str, params: Message, session: str | None) -> Message:
        if self.lost:
            raise CdpClosed(method)
        match method, params:
            case "Target.attachToTarget", {"targetId": target, "flatten": True}:
                self.attached.add(target)
                return {"sessionId": target}
            case "Storage.getStorageKey", {} if session in self.attached and session != self._unknown:
                return {"storageKey": session}
            case "Target.detachFromTarget", {"sessionId": target} if target != self._gone:
                self.attached.discard(target)
                return {}
            case "Target.closeTarget", {"targetId": target}:
                self.closed.append(target)
                return {}
        raise CdpError(method)

    async def page(self, method: str, params: Message) -> Message:
        assert method == "Storage.clearDataForStorageKey"
        assert params["storageTypes"] == "service_workers,cache_storage"
        if params["storageKey"] == self._refused:
            raise CdpError("no such key")
        self.cleared.append(params["storageKey"])
        return {}


def left(browser: RecordingBrowser, *storage_keys: str, kind: str = SERVICE_WORKER) -> LeftWorkers:
    """With workers of pages that are shown."""
    browser.shown = tuple(key.partition("^0")[2] or key.partition("^")[0] for key in storage_keys)
    workers = LeftWorkers(browser.browser, browser.page, lambda: browser.shown)
    for key in storage_keys:
        started(workers, key, kind)
    return workers


def started(workers: LeftWorkers, target: str, kind: str = SERVICE_WORKER) -> None:
    workers.event("Target.targetCreated", {"targetInfo": {"type": kind, "targetId": target}})


async def end(browser: RecordingBrowser, workers: LeftWorkers, *shown: str) -> None:
    """Shows another page, once all is known of the workers of those before it."""
    await learned()
    browser.shown = shown
    await workers.end()


async def learned() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_all_but_those_of_the_page_are_ended_once() -> None:
    browser = RecordingBrowser()
    workers = left(browser, "https://a.example/", "https://b.example:8443/", "https://c.example/")
    await end(browser, workers, "https://user@A.example:443/page")
    assert sorted(browser.cleared) == ["https://b.example:8443/", "https://c.example/"]
    for target in browser.cleared:
        workers.event("Target.targetDestroyed", {"targetId": target})
    await end(browser, workers, "https://d.example/")
    assert browser.cleared[2:] == ["https://a.example/"]
    assert browser.attached == set(), "nobody stays attached"


async def test_those_of_the_page_that_redirects_have_led_to_stay() -> None:
    browser = RecordingBrowser()
    keys = "https://a.example/", "https://www.a.example/", "https://b.example/"
    await end(browser, left(browser, *keys), "https://a.example/show", "https://www.a.example/show")
    assert browser.cleared == ["https://b.example/"]


async def test_what_is_being_learned_is_learned_though_nobody_waits_for_it_any_more() -> None:
    browser = RecordingBrowser()
    workers = left(browser, "https://a.example/")
    ending = asyncio.create_task(workers.end())
    await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait({ending})
    await end(browser, workers, "https://b.example/")
    assert browser.cleared == ["https://a.example/"]


@pytest.mark.parametrize("kind", [SERVICE_WORKER, SHARED_WORKER])
async def test_one_that_starts_when_its_page_is_long_gone_is_ended_at_once(kind: str) -> None:
    browser = RecordingBrowser()
    workers = left(browser)
    await end(browser, workers, "https://b.example/")
    for key in ("https://a.example/", "https://b.example/"):
        started(workers, key, kind)
    await learned()
    assert browser.closed == ["https://a.example/"]
    assert browser.cleared == (["https://a.example/"] if kind == SERVICE_WORKER else [])


async def test_one_that_ends_while_it_is_asked_is_known() -> None:
    browser = RecordingBrowser(gone="https://a.example/")
    workers = left(browser, "https://a.example/")
    await end(browser, workers, "https://b.example/")
    assert browser.cleared == ["https://a.example/"]


FRAME = "https://player.example/^0https://"


@pytest.mark.parametrize(
    ("key", "url", "stays"),
    [
        (f"{FRAME}a.example", "https://www.a.example:8443/page", True),
        (f"{FRAME}a.example", "https://a.example/page", True),
        (f"{FRAME}a.example", "https://another-a.example/page", False),
        (f"{FRAME}a.example", "https://player.example/", False),
        (f"{FRAME}a.example", "http://a.example/", False),
        (f"{FRAME}a.example", "about:blank", False),
        ("http://127.0.0.1:80/^0http://10.0.0.1", "http://10.0.0.1:8080/", True),
        ("http://[::1]:80/^0http://[::1]", "http://[::1]:8080/", True),
        ("https://a.example/^31", "https://a.example/", True),
        ("https://a.example/^31", "https://b.example/", False),
        ("https://a.example/^11^22", "https://a.example/", False),
        ("https://a.example/", "https://b.ex℀mple/", False),
    ],
)
async def test_those_of_frames_stay_with_the_site_of_their_page(key: str, url: str, stays: bool) -> None:
    browser = RecordingBrowser()
    await end(browser, left(browser, key), url)
    assert (browser.cleared == []) is stays


async def test_one_that_has_ended_by_itself_does_not_come_back() -> None:
    browser = RecordingBrowser()
    workers = left(browser, "https://a.example/")
    await end(browser, workers, "https://a.example/")
    workers.event("Target.targetDestroyed", {"targetId": "https://a.example/"})
    await end(browser, workers, "https://b.example/")
    assert browser.cleared == ["https://a.example/"]


async def test_shared_workers_are_closed() -> None:
    browser = RecordingBrowser()
    workers = left(
        browser, "https://a.example/", f"{FRAME}a.example", "https://b.example/", kind=SHARED_WORKER
    )
    await end(browser, workers, "https://a.example/")
    assert (browser.closed, browser.cleared) == (["https://b.example/"], [])


async def test_one_of_which_nothing_is_known_is_closed() -> None:
    browser = RecordingBrowser(unknown="https://a.example/")
    workers = left(browser, "https://a.example/")
    await end(browser, workers, "https://a.example/")
    assert (browser.closed, browser.attached) == (["https://a.example/"], set())


async def test_what_is_no_worker_is_left_alone() -> None:
    browser = RecordingBrowser()
    await end(browser, left(browser, "https://a.example/", kind="page"), "https://b.example/")
    assert (browser.cleared, browser.closed) == ([], [])


async def test_one_that_the_browser_refuses_keeps_no_other() -> None:
    browser = RecordingBrowser("https://a.example/")
    await end(browser, left(browser, "https://a.example/", "https://b.example/"), "https://c.example/")
    assert browser.cleared == ["https://b.example/"]


async def test_a_browser_that_ends_meanwhile_is_said_to_have() -> None:
    browser = RecordingBrowser()
    workers = left(browser, "https://a.example/")
    browser.lost = True
    with pytest.raises(CdpClosed):
        await end(browser, workers, "https://b.example/")
