"""Reads a response whole, from a server that might send without end."""

from __future__ import annotations

import aiohttp


async def bounded_body(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """The body of a response, all its parts.

    Raises:
        ValueError: it is larger.
    """
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        if len(body) > max_bytes:
            raise ValueError(f"a response of more than {max_bytes} bytes")
    return bytes(body)
