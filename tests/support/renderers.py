"""Chromium's renderers in a container, and what they are kept in: by what the kernel says of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

SCRIPT = """
import json, pathlib
found = []
for process in pathlib.Path('/proc').glob('[0-9]*'):
    try:
        line = (process / 'cmdline').read_text()
        status = dict(each.split(':', 1) for each in (process / 'status').read_text().splitlines())
    except OSError:
        continue
    if line.startswith('/usr/lib/chromium/') and '--type=renderer' in line:
        filters, capabilities = int(status['Seccomp_filters']), int(status['CapEff'], 16)
        found.append([len(status['NSpid'].split()), filters, capabilities])
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Renderer:
    namespaces: int
    """Of processes, one in the other; the container's is the first."""
    filters: int
    """Of seccomp; the container's is the first."""
    capabilities: int

    @property
    def is_sandboxed(self) -> bool:
        """In the zygote's namespaces and its own, under a filter of Chromium's."""
        return self.namespaces == 3 and self.filters >= 2 and not self.capabilities


def renderers(run: Callable[..., str]) -> list[Renderer]:
    """
    Args:
        run: runs a command in the browser's container, and gives what it printed.
    """
    return [Renderer(*each) for each in json.loads(run("python3", "-c", SCRIPT))]
