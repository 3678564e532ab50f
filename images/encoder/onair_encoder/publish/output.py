"""The interface of a kind of destination: opens sessions, and holds what outlives them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

from onair_crds.contract.program import ProgramDestination
from onair_encoder.publish.supplied_destination import SuppliedDestination


class DeliverySession(Protocol):
    """An open way to deliver. `run` is awaited once, then `close`."""

    async def run(self) -> None:
        """Delivers until the destination's `stop` is set, and then ends the stream properly.

        Returns early where another session is needed at once. Calls the destination's
        `connected()` once media is known to flow.

        Raises:
            SessionError: it ended otherwise.
        """

    async def close(self) -> None:
        """Releases everything at once."""


class Output(ABC):
    """One destination of a kind; made with its publisher, and in use until that ends."""

    finish_s = 3.0
    """How long a proper end may take."""
    records = False
    """It is closed properly where nobody says whether another encoder follows, who would go on with it."""

    def __init__(self, destination: SuppliedDestination) -> None:
        self.destination = destination

    @abstractmethod
    async def open(self) -> DeliverySession:
        """Opens a session; cancelled where the destination is stopped first.

        Raises:
            SessionError: none could be opened.
        """

    def keeps_session(self, before: ProgramDestination, after: ProgramDestination) -> bool:
        """Whether a change takes no new session: by default if only the timeout differs."""
        return before == after.model_copy(
            update={"timeout_ms": before.timeout_ms, "generation": before.generation, "uid": before.uid}
        )

    def gives_way_to(self, wanted: ProgramDestination) -> bool:
        """Whether this one, which is being ended, is to leave what it has to do to that one."""
        return False

    def updated(self) -> bool:
        """Called after a change that keeps the session; True if a retry is due at once."""
        return False

    async def begin(self) -> None:
        """Called once, before the first session."""
        return

    async def conclude(self) -> None:
        """Called once, after the last session; cancelled when `finish_s` has passed since the stop."""
        return

    async def close(self) -> None:
        """Called last, also if the publisher was aborted."""
        return
