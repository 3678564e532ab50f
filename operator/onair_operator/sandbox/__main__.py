"""`python -m onair_operator.sandbox`: what the DaemonSet runs on each node that encoders may be on.

`install <file> <folder>` puts the browser's seccomp profile below the kubelet's; `label <label>` says, for as
long as it runs, that the node has it and that Chromium's sandbox works there.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from threading import Event

from onair_crds.runtime.core_dumps import prevent_core_dumps
from onair_operator.sandbox.node_label import NodeLabel, keep
from onair_operator.sandbox.profile import install


def main() -> None:
    """Installs the profile on this node, or keeps the node's label, as the command line says."""
    prevent_core_dumps()
    match sys.argv[1:]:
        case ["install", file, folder]:
            install(Path(file), Path(folder))
        case ["label", label]:
            stop = Event()
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: stop.set())
            keep(NodeLabel(os.environ["NODE_NAME"], label), stop)
        case _:
            sys.exit("usage: python -m onair_operator.sandbox install <file> <folder> | label <label>")


if __name__ == "__main__":
    main()
