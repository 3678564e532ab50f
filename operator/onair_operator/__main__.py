"""`python -m onair_operator`: the operator, configured by `ONAIR_CONFIG` and the environment."""

from __future__ import annotations

import asyncio
import logging
import signal

import structlog

from onair_operator.runtime import run
from onair_operator.settings import OperatorSettings


def configure_logs(level: str) -> None:
    """JSON lines with ids of resources; kopf's own chatter only from warnings on."""
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=max(number, logging.WARNING), format="%(levelname)s %(name)s %(message)s")
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(number),
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
    )


async def serve(settings: OperatorSettings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def handle_signals() -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)

    handle_signals()
    await run(settings, stop, watches_started=handle_signals)


def main() -> None:
    settings = OperatorSettings()
    configure_logs(settings.log_level)
    asyncio.run(serve(settings))


if __name__ == "__main__":
    main()
