"""`python -m onair_operator`: the operator, configured by `ONAIR_CONFIG` and the environment."""

from __future__ import annotations

import asyncio
import signal

from onair_crds.runtime import logs
from onair_crds.runtime.core_dumps import prevent_core_dumps
from onair_operator.runtime import run
from onair_operator.settings import OperatorSettings


async def serve(settings: OperatorSettings) -> None:
    """Runs the operator until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def handle_signals() -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)

    handle_signals()
    await run(settings, stop, watches_started=handle_signals)


def main() -> None:
    """Runs the program, with settings from its file and environment."""
    prevent_core_dumps()
    settings = OperatorSettings()
    logs.configure(settings.log_level)
    asyncio.run(serve(settings))


if __name__ == "__main__":
    main()
