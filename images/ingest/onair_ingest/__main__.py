"""`python -m onair_ingest`: runs the gateway of an ingest server until SIGTERM."""

from __future__ import annotations

from onair_crds.runtime import event_loop, logs
from onair_crds.runtime.core_dumps import prevent_core_dumps
from onair_ingest.process import run
from onair_ingest.settings import Settings


def main() -> None:
    """Runs the program, with settings from its file and environment."""
    prevent_core_dumps()
    settings = Settings()
    logs.configure(settings.log_level)
    settings.warn_of_unknown_names()
    event_loop.run(run(settings))


if __name__ == "__main__":
    main()
