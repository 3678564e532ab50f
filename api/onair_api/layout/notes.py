"""What a diff of two versions cannot tell of a write, kept for the events that it causes."""

from __future__ import annotations

from typing import Any, Protocol


class BatchNotes(Protocol):
    async def keep(self, nonce: str, record: dict[str, Any]) -> None:
        """Keeps what the event of the write with this nonce is to say; called before the write.

        After a conflict it is called again, with the same nonce and what is true then. It must not fail the
        write: where it cannot keep the record the event falls back to the diff.

        Args:
            record: what stands under `layer` in the event's payload, with exactly one key: `batch`, the
                batch response; or `create` or `update`, a layer's record with its `requestAnimation`.
        """
