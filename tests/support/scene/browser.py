"""One browser for many pages of a test run, steered by the DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import httpx
from tests.support.control_plane import free_port
from tests.support.delivery.browser_page import browser_command
from tests.support.plain_http import NO_TLS
from tests.support.scene.picture import Picture
from tests.support.waiting import until, wait_for

START_S = 40.0


@contextlib.contextmanager
def browser() -> Iterator[str]:
    """A browser without a page; yields the address of its DevTools."""
    port = free_port()
    # Of two browsers with one profile the second is a window of the first
    profile = Path(tempfile.gettempdir(), f"onair-test-pages-{port}")
    flags = (f"--remote-debugging-port={port}", "--remote-allow-origins=*", f"--user-data-dir={profile}")
    looks = ("--force-color-profile=srgb", "--force-device-scale-factor=1")
    command, container = browser_command("about:blank", *flags, *looks)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: _responds(address), "the browser responds", START_S, poll_s=0.05)
        yield address
    finally:
        if container:
            subprocess.run(["docker", "rm", "-f", container], check=False, stdout=subprocess.DEVNULL)
        process.kill()
        process.wait()
        shutil.rmtree(profile, ignore_errors=True)


def _responds(address: str) -> bool:
    try:
        return httpx.get(f"{address}/json/version", timeout=2, verify=NO_TLS).status_code == 200
    except httpx.HTTPError:
        return False


class Tab:
    """A page of the browser's."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.console: list[str] = []
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self._socket:
            value = json.loads(message.data)
            if waiting := self._waiting.pop(value.get("id"), None):
                waiting.set_result(value)
            elif value.get("method") == "Runtime.consoleAPICalled":
                self.console.append(" ".join(str(each.get("value")) for each in value["params"]["args"]))
            elif value.get("method") == "Runtime.exceptionThrown":
                self.console.append(f"exception: {json.dumps(value['params'])[:500]}")

    async def call(self, method: str, **params: object) -> dict[str, Any]:
        number = next(self._ids)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        async with asyncio.timeout(20):
            answer = await self._waiting[number]
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    async def evaluate(self, script: str) -> Any:
        """The value of an expression, which may be a promise."""
        answer = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def until(self, condition: str, timeout_s: float = 10.0) -> Any:
        """The first value of an expression that holds."""
        # An element has no value that could be sent
        script = f"(found => found instanceof Node || found)({condition})"
        console = lambda: self.console[-5:]  # noqa: E731
        return await until(lambda: self.evaluate(script), condition, timeout_s, poll_s=0.02, state=console)

    async def alive(self, type_: str, which: str = "true") -> int:
        """How many objects of a type the page holds, after a garbage collection.

        Args:
            which: an expression that holds of those that count, about `each`.
        """
        prototype = (await self.call("Runtime.evaluate", expression=f"{type_}.prototype"))["result"]
        found = await self.call("Runtime.queryObjects", prototypeObjectId=prototype["objectId"])
        objects = found["objects"]["objectId"]
        count = f"function() {{ return this.filter(each => {which}).length; }}"
        counted = await self.call(
            "Runtime.callFunctionOn", objectId=objects, functionDeclaration=count, returnByValue=True
        )
        await self.call("Runtime.releaseObject", objectId=objects)
        return int(counted["result"]["value"])

    async def picture(self) -> Picture:
        """What is painted now."""
        # Two frames on: what scripts have changed is painted
        await self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        shot = await self.call("Page.captureScreenshot", format="png")
        return Picture.of(base64.b64decode(shot["data"]))


@contextlib.asynccontextmanager
async def tab(address: str, url: str, width: int, height: int, before: str = "") -> AsyncIterator[Tab]:
    """Opens a page of this size for as long as the context lasts.

    Args:
        before: a script that runs before those of the page.
    """
    async with aiohttp.ClientSession() as session:
        async with session.put(f"{address}/json/new?about:blank") as response:
            target = await response.json(content_type=None)
        async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=2**26) as socket:
            opened = Tab(socket)
            await opened.call("Runtime.enable")
            await opened.call("Page.enable")
            size = {"width": width, "height": height}
            await opened.call("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=1, mobile=False)
            await opened.call("Page.addScriptToEvaluateOnNewDocument", source=before)
            await opened.call("Page.navigate", url=url)
            try:
                yield opened
            finally:
                await session.get(f"{address}/json/close/{target['id']}")
