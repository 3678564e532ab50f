"""A browser that ends again and again is restarted ever later, and why is said meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.support.waiting import until

from onair_encoder.browser import page_keeper
from onair_encoder.browser.cdp import CdpClosed
from onair_encoder.browser.page_error import PageError
from onair_encoder.browser.page_keeper import PageKeeper

TOO_LARGE = "the page takes more than 1 GB"


PAGE = {"url": "https://graphics.example/", "width": 1280, "height": 720}


class Over(Exception):
    """Enough was seen."""


class SeenScreen:
    """What would be on a screen, as far as the keeper says."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def blank(self) -> None:
        self.steps.append("blank")

    def show(self) -> None:
        self.steps.append("shown")


@pytest.fixture(autouse=True)
def x_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is one, as it seems."""

    async def there(_: Path) -> bool:
        return True

    monkeypatch.setattr(page_keeper, "wait_for_path", there)


@pytest.fixture(autouse=True)
def screen(monkeypatch: pytest.MonkeyPatch) -> SeenScreen:
    screen = SeenScreen()
    monkeypatch.setattr(page_keeper, "Screen", lambda: screen)
    return screen


class Greedy:
    """A browser whose page is shown, and takes too much at once."""

    page: str | None = None
    script: str | None = None

    def __init__(self) -> None:
        self.lost, self.navigated = asyncio.Event(), asyncio.Event()
        self.loading, self.time_based = False, False

    async def start(self) -> None:
        return

    async def resize(self, width: int, height: int) -> None:
        return

    async def navigate(self, url: str, script: str | None = None) -> None:
        self.page = url
        self.navigated.set()

    async def check(self) -> None:
        if self.lost.is_set():
            raise CdpClosed("gone")

    def excess(self) -> str:
        return TOO_LARGE

    def kill(self) -> None:
        self.lost.set()

    async def stop(self) -> None:
        return


async def test_a_browser_that_ends_again_and_again_is_restarted_ever_later_until_another_page_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keeper = PageKeeper()
    pauses: list[float] = []
    reasons: list[object] = []

    async def paused(pause_s: float) -> bool:
        pauses.append(pause_s)
        reasons.append(keeper.state()["error"])
        if len(pauses) == 12:
            raise Over
        return len(pauses) == 11

    monkeypatch.setattr(page_keeper, "Chromium", Greedy)
    monkeypatch.setattr(keeper, "_pause", paused)
    with pytest.raises(Over):
        await keeper.run()
    assert pauses == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0, 0.1])
    assert set(reasons) == {TOO_LARGE}


class Starved(Greedy):
    """A browser whose page has taken all threads that its container may have."""

    def excess(self) -> str:
        raise RuntimeError("can't start new thread")


async def test_a_browser_that_nobody_can_look_at_is_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = PageKeeper()
    reasons: list[object] = []

    async def paused(_: float) -> bool:
        reasons.append(keeper.state()["error"])
        if len(reasons) == 2:
            raise Over
        return False

    monkeypatch.setattr(page_keeper, "Chromium", Starved)
    monkeypatch.setattr(keeper, "_pause", paused)
    async with asyncio.timeout(5):
        with pytest.raises(Over):
            await keeper.run()
    assert reasons == ["the resources that the page uses cannot be measured: can't start new thread"] * 2


class Unattended(Greedy):
    """A browser for which no thread can be started."""

    async def start(self) -> None:
        raise RuntimeError("can't start new thread")


async def test_a_browser_that_no_thread_can_be_started_for_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, screen: SeenScreen
) -> None:
    keeper = PageKeeper()
    pauses: list[float] = []

    async def paused(pause_s: float) -> bool:
        pauses.append(pause_s)
        if len(pauses) == 3:
            raise Over
        return False

    def refused() -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(page_keeper, "Chromium", Unattended)
    monkeypatch.setattr(screen, "show", refused)
    monkeypatch.setattr(keeper, "_pause", paused)
    async with asyncio.timeout(5):
        with pytest.raises(Over):
            await keeper.run()
    assert pauses == pytest.approx([0.1, 0.2, 0.4])


def test_a_browser_that_stood_for_a_while_is_restarted_at_once() -> None:
    pause = page_keeper.RestartPause()
    assert [pause.after(stood_s) for stood_s in (1, 59, 60, 5, 600)] == [0.1, 0.2, 0.1, 0.2, 0.1]


async def test_another_wanted_page_is_not_kept_waiting() -> None:
    keeper = PageKeeper()
    pausing = asyncio.create_task(keeper._pause(3600))
    await asyncio.sleep(0)
    keeper.want({"url": "https://graphics.example/corrected", "width": 1280, "height": 720})
    async with asyncio.timeout(5):
        assert await pausing


class Patient(Greedy):
    """A browser whose page says when it is ready, and takes what it may."""

    shown: Patient

    def __init__(self) -> None:
        super().__init__()
        Patient.shown = self

    async def paint_delays_ms(self) -> list[float]:
        return []

    def excess(self) -> str:
        return ""


async def test_a_page_that_says_that_it_is_loading_is_shown_once_it_is_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_keeper, "Chromium", Patient)
    keeper = PageKeeper()

    async def until_state(**state: object) -> None:
        await until(lambda: state.items() <= keeper.state().items())

    running = asyncio.create_task(keeper.run())
    await until_state(loaded=True, loading=False)
    Patient.shown.loading = True
    await until_state(loaded=False, loading=True, error=None)
    Patient.shown.loading = False
    await until_state(loaded=True, loading=False)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


class Failing(Patient):
    """A browser whose page is an error as often as a test says, and which then ends."""

    errors = 0
    screen: SeenScreen

    async def start(self) -> None:
        self.screen.steps.append("start")

    async def navigate(self, url: str, script: str | None = None) -> None:
        if Failing.errors:
            Failing.errors -= 1
            raise PageError("graphics.example responds with HTTP 503")
        await super().navigate(url)

    async def check(self) -> None:
        raise CdpClosed("the page has crashed")

    async def leave(self) -> None:
        self.screen.steps.append("leave")

    async def stop(self) -> None:
        self.screen.steps.append("stop")


@pytest.mark.parametrize(
    ("errors", "between"),
    [
        pytest.param(0, ["shown"], id="a page"),
        pytest.param(2, ["blank", "leave"] * 2 + ["shown"], id="a page that is an error at first"),
    ],
)
async def test_the_screen_is_blank_from_before_a_browser_starts_until_its_page_has_painted(
    monkeypatch: pytest.MonkeyPatch,
    screen: SeenScreen,
    errors: int,
    between: list[str],
) -> None:
    async def paused(_: float) -> bool:
        raise Over

    Failing.screen, Failing.errors = screen, errors
    monkeypatch.setattr(page_keeper, "Chromium", Failing)
    monkeypatch.setattr(page_keeper, "RETRY_MIN_S", 0.001)
    keeper = PageKeeper()
    monkeypatch.setattr(keeper, "_pause", paused)
    keeper.want(PAGE)
    with pytest.raises(Over):
        await keeper.run()
    assert screen.steps == ["blank", "start", *between, "stop", "shown"]


async def test_the_screen_stays_blank_until_a_page_is_wanted(
    monkeypatch: pytest.MonkeyPatch, screen: SeenScreen
) -> None:
    monkeypatch.setattr(page_keeper, "Chromium", Patient)
    keeper = PageKeeper()
    running = asyncio.create_task(keeper.run())
    await until(lambda: keeper.loaded is not None, "a browser runs", 10)
    assert set(screen.steps) == {"blank"}
    keeper.want(PAGE)
    await until(lambda: keeper.loaded == PAGE["url"], "the page is loaded", 10)
    assert screen.steps[-1] == "shown"
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
