"""The public server SDK of rooms, unmodified, in Node.js: runs a room with the token of somebody in it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("server_sdk_node")
PINNED = ("package.json", "package-lock.json")


def modules() -> Path:
    """Where the SDK's packages are: from npm once, each checked by its pinned hash, then from the cache."""
    digest = hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in PINNED)).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onair/npm" / f"rooms-{digest}"
    found = cache / "node_modules"
    if not (found / "@api.stream").exists():
        cache.mkdir(parents=True, exist_ok=True)
        for name in PINNED:
            shutil.copy(FOLDER / name, cache)
        install = ["npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(install, cwd=cache, check=True, capture_output=True, timeout=180)
    return found


async def administer(url: str, token: str, room: str, method: str, *arguments: object) -> dict[str, Any]:
    """What the SDK's method gave, as `value`; or `status` and `error` of the response.

    Args:
        url: what LiveKit's clients are given, but by HTTP.
    """
    packages = await asyncio.to_thread(modules)
    process = await asyncio.create_subprocess_exec(
        *("node", str(FOLDER / "administer.cjs"), str(packages), url, token, room, method),
        json.dumps(arguments),
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        output, _ = await process.communicate()
    assert process.returncode == 0
    result: dict[str, Any] = json.loads(output)
    return result
