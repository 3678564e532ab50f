"""Stores what the event of a write says beyond the difference of two versions."""

from __future__ import annotations

from typing import Protocol

from onair_crds.shapes import JsonObject


class EventDetailsStore(Protocol):
    async def keep(self, nonce: str, details: JsonObject, service_id: str) -> bool:
        """Keeps what the event of the write with this nonce says; called before the write.

        After a conflict it is called again, with the same nonce and what is true then. It must not fail the
        write: where details cannot be kept, the event says what the difference says.

        Args:
            details: `layer` of the event's payload, with exactly one key: `batch`, the batch response; or
                `create` or `update`, a layer's record with its `requestAnimation`.
            service_id: of the caller; what is kept counts for their service.

        Returns:
            Whether all replicas can find them; the write's annotation says so, and no other one than this
            looks for them otherwise.
        """

    def forget(self, nonce: str) -> None:
        """Takes back what an attempt kept that was not the last one."""
