"""A client of an ASGI application, without a socket."""

from __future__ import annotations

from typing import Any

import httpx


def client(app: Any) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://onair")
