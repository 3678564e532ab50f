"""Whether a process could leave a core dump, by what the kernel says of it."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

DUMPING = frozenset(
    getattr(signal, f"SIG{name}")
    for name in ("QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "SEGV", "XCPU", "XFSZ", "SYS")
)
"""Signals of which a process dies with a core dump, where it does not catch them (signal(7))."""
GO_CRASHES = "GOTRACEBACK=crash"
"""In its environment, a program in Go ends by a signal and not by itself."""


@dataclass(frozen=True)
class CoreDumps:
    limit: str
    """Bytes, or "unlimited"; those of 0 and 1 are none."""
    caught: int
    """Mask of the signals that it catches."""
    environment: str

    @property
    def limited(self) -> bool:
        return self.limit in ("0", "1")

    @property
    def by_runtime(self) -> bool:
        """It catches whatever it would die of, and exits by itself, as Go does unless it is told to crash."""
        caught = {number for number in DUMPING if self.caught >> (number - 1) & 1}
        return caught == DUMPING and GO_CRASHES not in self.environment

    @classmethod
    def of(cls, limits: str, status: str, environment: str) -> CoreDumps:
        """
        Args:
            limits: /proc/PID/limits, or its line of core files.
            status: /proc/PID/status, or its line of caught signals.
            environment: /proc/PID/environ.
        """
        (limit,) = [line.split()[4] for line in limits.splitlines() if line.startswith("Max core file size")]
        (caught,) = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")]
        return cls(limit, int(caught, 16), environment)

    @classmethod
    def of_process(cls, pid: int) -> CoreDumps:
        """Of a process of this machine."""
        files = (Path(f"/proc/{pid}", name).read_bytes() for name in ("limits", "status", "environ"))
        return cls.of(*(each.decode(errors="replace") for each in files))
