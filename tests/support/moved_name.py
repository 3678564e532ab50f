"""A name whose address changes, as that of a pod does which is restarted."""

from __future__ import annotations

import asyncio
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

FORMER, ADDRESS = "127.9.9.9", "127.0.0.1"
"""Nothing listens at the former one."""
_NAME = "gateway.example"


def at_moved_name(monkeypatch: pytest.MonkeyPatch, url: str) -> str:
    """A url whose name leads to where nothing is the first time, and to `url` afterwards; in this loop."""
    asked = 0

    async def getaddrinfo(host: str, port: int, **_: object) -> list[Any]:
        nonlocal asked
        address = host
        if host == _NAME:
            asked += 1
            address = FORMER if asked == 1 else ADDRESS
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    return f"http://{_NAME}:{urlsplit(url).port}"
