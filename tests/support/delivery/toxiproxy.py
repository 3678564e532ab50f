"""A real toxiproxy: TCP connections through bad networks."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any, Self

import httpx
from tests.support.certificate_authority import HOST
from tests.support.control_plane import free_port
from tests.support.delivery.server_program import server_program
from tests.support.plain_http import NO_TLS
from tests.support.waiting import until


class Toxiproxy:
    """Use as an async context manager."""

    async def __aenter__(self) -> Self:
        port = free_port()
        self._spawn(port)
        self._http = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=5, verify=NO_TLS)
        await until(self._responds, "toxiproxy responds", 10)
        return self

    async def _responds(self) -> bool:
        try:
            return (await self._http.get("/version")).is_success
        except httpx.HTTPError:
            return False

    def _spawn(self, port: int) -> None:
        command: list[str | Path] = [
            server_program("toxiproxy-server"),
            "-host",
            "127.0.0.1",
            "-port",
            str(port),
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()
        self._process.kill()
        await asyncio.to_thread(self._process.wait)

    async def link(self, name: str, to_port: int, host: str = HOST, to_host: str = HOST) -> int:
        """A link to a port; returns the port to connect to."""
        port = free_port()
        await self._post("/proxies", name=name, listen=f"{host}:{port}", upstream=f"{to_host}:{to_port}")
        return port

    async def poison(self, name: str, kind: str, stream: str = "upstream", **attributes: int) -> None:
        """Degrades a link: `latency`, `bandwidth`, `timeout`, `reset_peer` and others."""
        await self._post(f"/proxies/{name}/toxics", type=kind, stream=stream, attributes=attributes)

    async def heal(self, name: str, kind: str, stream: str = "upstream") -> None:
        (await self._http.delete(f"/proxies/{name}/toxics/{kind}_{stream}")).raise_for_status()

    async def cut(self, name: str) -> None:
        """Ends its connections, and refuses new ones until it is restored."""
        await self._post(f"/proxies/{name}", enabled=False)

    async def restore(self, name: str) -> None:
        await self._post(f"/proxies/{name}", enabled=True)

    async def _post(self, path: str, **body: Any) -> None:
        (await self._http.post(path, json=body)).raise_for_status()
