"""Contact with the operator: fresh at the start, lost by silence alone, and back with the next request."""

from __future__ import annotations

import asyncio

from onair_encoder.publish.operator_contact import LOST_AFTER_S, OperatorContact


async def test_contact_is_lost_by_silence_and_regained_by_a_request() -> None:
    now = [100.0]
    contact = OperatorContact(lambda: now[0])
    assert not contact.lost
    now[0] += LOST_AFTER_S
    assert not contact.lost
    now[0] += 0.1
    assert contact.lost
    waiting = [asyncio.create_task(contact.next()) for _ in range(2)]
    await asyncio.sleep(0)
    assert not any(each.done() for each in waiting)
    contact.heard()
    await asyncio.gather(*waiting)
    assert not contact.lost
