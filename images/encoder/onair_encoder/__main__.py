"""`python -m onair_encoder network|browser|encoder|agent`: PID 1 of each container, and what it runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

from onair_crds.runtime.core_dumps import prevent_core_dumps


def main() -> None:
    """Imports only what the wanted process needs: PID 1 is to be there at once."""
    prevent_core_dumps()
    loop: Callable[[], asyncio.AbstractEventLoop] | None = None
    match sys.argv[1:]:
        case ["network"]:
            from onair_encoder.network.container import run
        case ["browser"]:
            from onair_encoder.browser.container import run
        case ["encoder"]:
            from onair_encoder.encode.container import run
        case ["agent"]:
            from onair_crds.runtime.event_loop import Loop
            from onair_encoder.agent.process import run

            # It is woken for every packet.
            loop = Loop
        case _:
            sys.exit("usage: python -m onair_encoder network|browser|encoder|agent")
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(run())


if __name__ == "__main__":
    main()
