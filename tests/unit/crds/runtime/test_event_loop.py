"""A server that resets connections, as a restarting API server does, harms no other descriptor."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import asyncio, os, random, signal, socket, ssl, time
import aiohttp
from onair_crds.runtime.event_loop import Loop

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]

def resets_connections(parent):
    while os.getppid() == parent:
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen(128)
            time.sleep(random.uniform(0.0002, 0.004))

parent = os.getpid()
child = os.fork()
if child == 0:
    try:
        resets_connections(parent)
    finally:
        os._exit(0)

async def connect(session, context, end):
    failures = 0
    while time.monotonic() < end:
        try:
            await session.get(f"https://127.0.0.1:{port}/", ssl=context)
        except aiohttp.ClientError:
            failures += 1
    return failures

async def guard(end):
    stolen, own = 0, []
    while time.monotonic() < end:
        own += [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
        await asyncio.sleep(0.002)
        while len(own) > 200:
            try:
                os.close(own.pop(0))
            except OSError:
                stolen += 1
    return stolen

async def main():
    context = ssl.create_default_context()
    end = time.monotonic() + 3
    async with aiohttp.ClientSession() as session:
        clients = [connect(session, context, end) for _ in range(16)]
        stolen, *failures = await asyncio.gather(guard(end), *clients)
    print("stolen", stolen, "failures", sum(failures))
    assert sum(failures) > 100, "connections were reset"
    assert not stolen

try:
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(main())
finally:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


def test_a_reset_connection_closes_its_own_descriptor_alone() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
