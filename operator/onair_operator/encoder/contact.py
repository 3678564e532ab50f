"""Keeps an encoder in touch with the operator: tells it to yield once it is replaced, or to end its run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from onair_crds.contract.program import Contact
from onair_operator.encoder.unreachable import EncoderUnreachable

INTERVAL_S = 3.0
REPLACED_RETRY_S = 0.25
"""Of what an encoder has to hear soon: that it is replaced, or that its run is over."""


class ContactKeeper:
    """Sends contacts in a task; one to an encoder that is replaced returns once that has yielded.

    One that is to end its run is told so again and again, as its agent may have restarted.
    """

    def __init__(
        self,
        put: Callable[[Contact], Awaitable[None]],
        changed: Callable[[], None],
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """
        Args:
            put: sends a contact; raises EncoderUnreachable.
            changed: called once the encoder has yielded.
            leads: whether this process may act at the moment; it knows what is wanted only then.
        """
        self._put = put
        self._changed = changed
        self._leads = leads
        self._news = asyncio.Event()
        self.replaced = False
        """Whether it is to yield."""
        self.yielded = False
        self.stopped = False
        """Whether it is to end its streams."""

    def replace(self) -> None:
        """Tells the encoder from now on that another one takes its place."""
        self.replaced = True
        self._news.set()

    def stop(self) -> None:
        """Tells the encoder from now on that its run is over."""
        if not self.stopped:
            self.stopped = True
            self._news.set()

    async def run(self) -> None:
        """Is in touch every 3 s, and more often with one that is to yield; ends when it has yielded."""
        while True:
            self._news.clear()
            contact, heard = Contact(replaced=self.replaced, stop=self.stopped), False
            if self._leads():
                with suppress(EncoderUnreachable):
                    await self._put(contact)
                    heard, self.yielded = True, contact.replaced
            if self.yielded:
                break
            urgent = (contact.replaced or contact.stop) and not heard
            with suppress(TimeoutError):
                async with asyncio.timeout(REPLACED_RETRY_S if urgent else INTERVAL_S):
                    await self._news.wait()
        self._changed()
