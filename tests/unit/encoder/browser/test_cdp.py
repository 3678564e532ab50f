"""A browser that responds is not taken for one that hangs."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from onair_encoder.browser.cdp import CdpPipe, CdpTimeout


async def test_a_response_counts_that_came_while_this_process_stood_still() -> None:
    (ours, browsers_out), (browsers_in, to_browser) = os.pipe(), os.pipe()
    pipe = CdpPipe(ours, to_browser, lambda *_: None, lambda: None)
    await pipe.open()

    def respond_and_stand_still() -> None:
        os.write(browsers_out, b'{"id":1,"result":{"answer":42}}\0')
        time.sleep(0.3)

    asyncio.get_running_loop().call_later(0.02, respond_and_stand_still)
    assert await pipe.call("Some.thing", timeout_s=0.1) == {"answer": 42}
    with pytest.raises(CdpTimeout):
        await pipe.call("Some.thing", timeout_s=0.1)
    pipe.close()
    for end in (browsers_out, browsers_in):
        os.close(end)
