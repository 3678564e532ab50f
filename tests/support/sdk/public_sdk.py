"""The unmodified public SDK, driven by a script of ours in Node and in a real browser."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.support.delivery.browser_page import browser_page
from tests.support.delivery.livekit_server import client_script

FOLDER = Path(__file__).parent
INSTALLED = ("package.json", "package-lock.json")
SESSION_S = 60.0


def endpoints(url: str) -> dict[str, str]:
    """What the SDK is given instead of its own end points."""
    return {
        "liveApiServer": f"{url}/grpcweb/live/v2",
        "layoutApiServer": f"{url}/grpcweb/layout/v2",
        "eventApiServer": f"{url}/grpcweb/event/v2",
        "eventApiWebSocketServer": f"{url.replace('http', 'ws')}/event/v2",
    }


def in_node(settings: dict[str, Any], timeout_s: float = SESSION_S) -> dict[str, Any]:
    """What a session of the SDK in Node got."""
    command = ["node", str(script("node")), json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


async def in_browser(settings: dict[str, Any], redirect: str) -> dict[str, Any]:
    """What a session of the SDK in Chromium got, from an origin of its own. It has LiveKit's client at hand.

    Args:
        redirect: the address of a script that the page loads first.
    """
    scripts_of_page = f'<script src="{redirect}"></script><script src="/session.js"></script>'
    page = f'<!doctype html><meta charset="utf-8">{scripts_of_page}'
    bundle = await asyncio.to_thread(lambda: script("browser").read_text())
    client = await asyncio.to_thread(client_script)
    scripts = {"/session.js": f"{client}\nconst SETTINGS = {json.dumps(settings)};\n{bundle}"}
    async with browser_page(page, scripts) as viewer:
        return await viewer.until("done", lambda report: report, SESSION_S)


def script(platform: str, name: str = "session.js") -> Path:
    """A script of this folder as one file for a platform; made once for each state of its sources."""
    packages = _packages()
    sources = (FOLDER / name, Path(__file__))
    state = hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()[:12]
    made = packages.parent / f"{state}-{platform}.js"
    if not made.exists():
        source = packages.parent / f"{state}.js"
        source.write_bytes((FOLDER / name).read_bytes())
        esbuild = str(packages / "esbuild/bin/esbuild")
        options = ["--bundle", f"--platform={platform}", f"--outfile={made}"]
        if platform == "browser":
            options.append("--define:global=globalThis")
        subprocess.run(["node", esbuild, str(source), *options], check=True, capture_output=True, timeout=60)
    return made


def _packages() -> Path:
    """The installed packages; from npm once, then from the cache."""
    state = hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in INSTALLED)).hexdigest()[:12]
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onair/npm" / f"sdk-{state}"
    if not (root / "installed").exists():
        root.mkdir(parents=True, exist_ok=True)
        for name in INSTALLED:
            (root / name).write_bytes((FOLDER / name).read_bytes())
        install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(root)]
        subprocess.run(install, check=True, capture_output=True, timeout=300)
        (root / "installed").touch()
    return root / "node_modules"
