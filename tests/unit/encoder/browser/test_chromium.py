"""A page that is asked at the moment of a navigation is asked again."""

from __future__ import annotations

import pytest

from onair_encoder.browser import chromium as chromium_module
from onair_encoder.browser.cdp import CdpClosed, CdpError
from onair_encoder.browser.cdp_messages import Message
from onair_encoder.browser.chromium import Chromium


class Navigating(Chromium):
    """Refuses so many calls before it answers."""

    def __init__(self, refusals: int) -> None:
        super().__init__()
        self.refusals, self.asked = refusals, 0

    async def _page(self, method: str, params: Message | None = None, timeout_s: float = 0) -> Message:
        self.asked += 1
        if self.asked <= self.refusals:
            raise CdpError(f"{method}: Execution context was destroyed.")
        return {"result": {"value": [200, "page.example"]}}


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
