"""Children that sleep for a number of seconds of their own, by which a test tells them apart."""

from __future__ import annotations

from tests.support.processes import command_lines
from tests.support.waiting import until


def running(number: int) -> int:
    """Processes of a command that have come to sleep or are about to."""
    asleep = ["sleep", str(number)]
    return sum(
        arguments == asleep or arguments[-1].endswith(" ".join(asleep))
        for arguments in command_lines().values()
    )


async def until_running(number: int, count: int = 1) -> None:
    await until(lambda: running(number) == count, f"{count} of them", 10)
