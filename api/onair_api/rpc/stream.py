"""The event stream over RPC: the client's messages, then what the session is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial

from onair_api.auth.callers import CallHeaders
from onair_api.connection.http_connection import Abortable
from onair_api.event.stream.message_stream import MessageFraming, MessageStream, MessageStreams
from onair_api.operation import StreamOperation
from onair_api.rpc.descriptors import messages_of
from onair_api.rpc.message_forms import BINARY, JSON, Encoded, Form, Unparsed
from onair_api.settings import LimitSettings


class StreamMethod:
    """Serves the one operation whose response does not end."""

    def __init__(self, operation: StreamOperation, streams: MessageStreams, limits: LimitSettings) -> None:
        rpc = operation.rpc
        self.service, self.name = rpc.service, rpc.method or operation.name
        self.operation, self.path = operation.name, operation.rpc_path
        self._streams = streams
        self._request, response = messages_of(self.service, self.name)
        forms: tuple[Form, ...] = (BINARY, JSON)
        self._framings = {form: MessageFraming(partial(form.encoded, response)) for form in forms}
        self._json_depth = limits.json_depth

    async def messages(
        self,
        headers: CallHeaders,
        transport: Abortable | None,
        requests: AsyncIterator[Unparsed],
        form: Form,
    ) -> AsyncIterator[Encoded]:
        """Yields the messages of a stream until it ends.

        Raises:
            Exception: whatever ends the stream.
        """
        async with self._streams.open(headers, transport, self._framings[form]) as stream:
            reading = asyncio.create_task(self._read(stream, requests))
            reading.add_done_callback(partial(_end_if_failed, stream))
            try:
                async for result in stream.results():
                    yield Encoded(result)
                if reading.done():
                    reading.result()
            finally:
                reading.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await reading

    async def _read(self, stream: MessageStream, requests: AsyncIterator[Unparsed]) -> None:
        async for request in requests:
            await stream.take(await request.json(self._request, self._json_depth))


def _end_if_failed(stream: MessageStream, reading: asyncio.Task[None]) -> None:
    """Ends the stream at what is no message: its client and this service disagree on the form."""
    if not reading.cancelled() and reading.exception():
        stream.end()
