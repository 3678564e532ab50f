"""A cluster of one Secret, whose reads take a turn of the event loop and are counted."""

from __future__ import annotations

import asyncio
import base64

from onair_crds.shapes import Document


class ReadSecret:
    """In place of a `Cluster`."""

    def __init__(self, value: bytes) -> None:
        self.client = self
        self.reads = 0
        self._value = value

    async def get(self, *_: object) -> Document:
        self.reads += 1
        await asyncio.sleep(0)
        return {"data": {"secret": base64.b64encode(self._value).decode()}}
