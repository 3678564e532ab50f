"""Encoders are kept in touch, and those that are replaced are told until they have yielded."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.waiting import until

from onair_crds.contract.program import Contact
from onair_operator.encoder import contact as contact_module
from onair_operator.encoder.contact import ContactKeeper
from onair_operator.encoder.unreachable import EncoderUnreachable


class ContactedEncoder:
    """Takes contacts while it is reachable."""

    def __init__(self) -> None:
        self.contacts: list[bool] = []
        """Whether it was told that it is replaced."""
        self.stops: list[bool] = []
        """Whether it was told that its run is over."""
        self.reachable = True
        self.leads = True
        self.transitions = 0
        self.keeper = ContactKeeper(self._put, self._changed, lambda: self.leads)

    async def _put(self, contact: Contact) -> None:
        self.contacts.append(contact.replaced)
        self.stops.append(contact.stop)
        if not self.reachable:
            raise EncoderUnreachable("no response")

    def _changed(self) -> None:
        self.transitions += 1


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> ContactedEncoder:
    monkeypatch.setattr(contact_module, "INTERVAL_S", 0.01)
    monkeypatch.setattr(contact_module, "REPLACED_RETRY_S", 0.01)
    return ContactedEncoder()


async def until_contacts(encoder: ContactedEncoder, count: int) -> None:
    await until(lambda: len(encoder.contacts) >= count, f"{count} contacts", 5)


async def test_an_encoder_is_kept_in_touch_and_told_at_once_that_it_is_replaced(
    encoder: ContactedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = asyncio.create_task(encoder.keeper.run())
    await until_contacts(encoder, 3)
    monkeypatch.setattr(contact_module, "INTERVAL_S", 60.0)
    await until_contacts(encoder, len(encoder.contacts) + 1)
    encoder.keeper.replace()
    async with asyncio.timeout(5):
        await running
    assert encoder.contacts[-1] is True
    assert not any(encoder.contacts[:-1])
    assert (encoder.keeper.yielded, encoder.transitions) == (True, 1)


async def test_an_encoder_that_is_out_of_reach_is_told_until_it_has_yielded(
    encoder: ContactedEncoder,
) -> None:
    encoder.reachable = False
    encoder.keeper.replace()
    running = asyncio.create_task(encoder.keeper.run())
    await until_contacts(encoder, 4)
    assert not encoder.keeper.yielded
    encoder.reachable = True
    async with asyncio.timeout(5):
        await running
    assert encoder.keeper.yielded


async def test_who_does_not_lead_is_in_touch_with_nobody(encoder: ContactedEncoder) -> None:
    encoder.leads = False
    encoder.keeper.replace()
    running = asyncio.create_task(encoder.keeper.run())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await asyncio.shield(running)
    assert encoder.contacts == []
    running.cancel()


async def test_an_encoder_whose_run_is_over_is_told_at_once_and_again_as_its_agent_may_restart(
    encoder: ContactedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contact_module, "INTERVAL_S", 60.0)
    running = asyncio.create_task(encoder.keeper.run())
    await until_contacts(encoder, 1)
    encoder.reachable = False
    encoder.keeper.stop()
    await until_contacts(encoder, 4)
    monkeypatch.setattr(contact_module, "INTERVAL_S", 0.01)
    encoder.reachable = True
    await until_contacts(encoder, len(encoder.contacts) + 3)
    assert encoder.stops[0] is False
    assert all(encoder.stops[1:])
    assert not running.done()
    assert (encoder.keeper.stopped, encoder.keeper.yielded, any(encoder.contacts)) == (True, False, False)
    encoder.keeper.replace()
    async with asyncio.timeout(5):
        await running
    assert (encoder.contacts[-1], encoder.stops[-1]) == (True, True)
