"""A real browser with a page of a test's, which reports what it sees and hears."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import subprocess
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.support.loopback_server import on_loopback
from tests.support.waiting import until

MAX_REPORT = 2**20


class Viewer:
    """What a browser sees and hears; its page reports several times a second."""

    def __init__(self) -> None:
        self.report: dict[str, Any] = {}

    async def until(
        self, what: str, condition: Callable[[dict[str, Any]], object], timeout_s: float = 20.0
    ) -> dict[str, Any]:
        """The first report of which the condition holds."""

        def holds() -> dict[str, Any] | None:
            with contextlib.suppress(KeyError, TypeError):
                return self.report if condition(self.report) else None
            return None

        state = lambda: json.dumps(self.report)[:1500]  # noqa: E731
        return await until(holds, what, timeout_s, poll_s=0.05, state=state)


@contextlib.asynccontextmanager
async def browser_page(
    page: str, scripts: Mapping[str, str], *flags: str, folders: Mapping[str, Path] | None = None
) -> AsyncIterator[Viewer]:
    """Opens a page for as long as the context lasts; it posts its reports to `/report`.

    Args:
        scripts: what the page loads, by path.
        flags: of Chromium, beside those of every test.
        folders: served as they are, by path.
    """
    watching = Viewer()

    def served(text: str, content_type: str) -> Callable[[web.Request], Any]:
        async def serve(_: web.Request) -> web.Response:
            return web.Response(text=text, content_type=content_type)

        return serve

    async def take(request: web.Request) -> web.Response:
        watching.report = await request.json()
        return web.Response()

    application = web.Application(client_max_size=MAX_REPORT)
    application.add_routes([web.get("/", served(page, "text/html")), web.post("/report", take)])
    for path, text in scripts.items():
        application.router.add_get(path, served(text, "text/javascript"))
    for path, folder in (folders or {}).items():
        application.router.add_static(path, folder)
    async with on_loopback(application) as address:
        # In a thread: a test's loop may be the network of a room at the same time
        command, container = await asyncio.to_thread(browser_command, f"{address}/", *flags)
        quiet = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*command, stdout=quiet, stderr=quiet)
        try:
            yield watching
        finally:
            if container:
                removing = await asyncio.create_subprocess_exec("docker", "rm", "-f", container, stdout=quiet)
                await removing.wait()
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def browser_command(url: str, *more: str) -> tuple[list[str], str | None]:
    """Chromium on this machine or in the encoder's image; and the name of its container."""
    name = f"onair-test-viewer-{uuid.uuid4().hex[:8]}"
    flags = [
        *("--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--mute-audio"),
        *("--autoplay-policy=no-user-gesture-required", "--disable-background-networking"),
        *("--disable-renderer-backgrounding", "--disable-background-timer-throttling"),
        *("--disable-dev-shm-usage", f"--user-data-dir=/tmp/{name}", *more, url),
    ]
    if found := shutil.which("chromium"):
        return [found, *flags], None
    listed = ["docker", "image", "ls", "onair/encoder", "--format", "{{.Repository}}:{{.Tag}}"]
    images = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
    if not images:
        pytest.fail("there is no chromium: install it, or run `make images`", pytrace=False)
    run = ["docker", "run", "--rm", "--name", name, "--network", "host", "--user", "1000"]
    # A viewer's browser, which has not the policies of an encoder's
    # and which stands for another machine: it yields to the encoders of this one
    run += ["--tmpfs", "/etc/chromium/policies", "--cpu-shares", "102"]
    return [*run, "-e", "HOME=/tmp", "--entrypoint", "chromium", images[0], *flags], name
