"""The agent as a process of its own, with the paths and ports of a pod in a folder; SIGTERM ends it."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import signal
import sys
from pathlib import Path
from typing import Self

from tests.support.control_plane import free_port

from onair_crds.contract.program import Program
from onair_operator.encoder.pod_identity import OperatorKey, pod_identity

POD = "show-run-1"
PATHS = {
    "PROGRAM_FILE": "program.json",
    "IDENTITY": "identity",
    "MEDIA_SOCKET": "media.sock",
    "SUPERVISOR_SOCKET": "supervisor.sock",
    "BROWSER_SOCKET": "browser.sock",
    "SPOOL": "spool",
}
START = """
import asyncio, sys
from pathlib import Path
from onair_crds.contract import pod
from onair_encoder import paths
pod.METRICS_PORT, pod.CONTROL_PORT = map(int, sys.argv[1:3])
for each in sys.argv[3:]:
    name, _, path = each.partition("=")
    setattr(paths, name, Path(path))
from onair_encoder.agent.process import run
asyncio.run(run())
"""


class AgentProcess:
    """Use as an async context manager. No browser and no ffmpeg are there, so that the slate is on air."""

    def __init__(self, folder: Path, program: Program) -> None:
        self._folder = folder
        (folder / "identity").mkdir(parents=True)
        for name, text in pod_identity(OperatorKey.generate(), dt.datetime.now(dt.UTC)).items():
            (folder / "identity" / name).write_text(text)
        (folder / "program.json").write_text(program.wire())

    async def __aenter__(self) -> Self:
        paths = [f"{name}={self._folder / file}" for name, file in PATHS.items()]
        with (self._folder / "agent.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", START, str(free_port()), str(free_port()), *paths),
                env={**os.environ, "ONAIR_POD_NAME": POD},
                stdout=log,
                stderr=log,
            )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def terminate(self) -> int:
        """What a kubelet does first; gives the exit code once it has ended."""
        self._process.send_signal(signal.SIGTERM)
        return await self._process.wait()
