"""What the browser's container of a pod takes: the most of it since it was last asked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from tests.support.ingest.pod_page import END_S

WATCH = """
import json, pathlib, select, sys, time
sys.path.insert(0, '/opt/onair/src')
from onair_encoder.browser import bounds, cpu_use
most, looks = {}, 0
began_s, used_s = time.monotonic(), cpu_use.used_s()
def note(**found):
    for name, count in found.items(): most[name] = max(most.get(name, 0), count)
def renderers():
    count = 0
    for process in pathlib.Path('/proc').glob('[0-9]*'):
        try: count += '--type=renderer' in (process / 'cmdline').read_text()
        except OSError: pass
    return count
while True:
    note(tasks=bounds.tasks(), memory_bytes=bounds.memory_used())
    if looks % 5 == 0:
        note(renderers=renderers(), stored_bytes=bounds.folder_size(pathlib.Path('/tmp')))
    looks += 1
    if select.select([sys.stdin], [], [], 0.1)[0]:
        if not sys.stdin.readline(): break
        now_s, now_used_s = time.monotonic(), cpu_use.used_s()
        print(json.dumps({**most, 'cpus': (now_used_s - used_s) / (now_s - began_s)}), flush=True)
        most, looks, began_s, used_s = {}, 0, now_s, now_used_s
"""


@dataclass(frozen=True)
class TakenByBrowser:
    tasks: int
    """Processes and threads, the watch's own included."""
    memory_bytes: int
    renderers: int
    stored_bytes: int
    cpus: float
    """On average."""


class BrowserWatch:
    """Runs in the browser's container. Use as a context manager."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """
        Args:
            command: runs another one there, with its input and output.
            environment: of the command.
        """
        self._command, self._environment = [*command, "python3", "-c", WATCH], environment

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def most(self) -> TakenByBrowser:
        """Since it was asked before."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return TakenByBrowser(**json.loads(self._process.stdout.readline()))
