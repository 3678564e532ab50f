"""Whether Chromium runs in its own sandbox: by the mode of the installation, not by what happens to fail."""

from __future__ import annotations

import os

from onair_crds.contract.pod import SANDBOX_VARIABLE, SandboxMode
from onair_crds.runtime.stderr_log import log
from onair_crds.runtime.user_namespaces import refusal

OFF = "--no-sandbox"


class SandboxRefused(Exception):
    """Chromium's sandbox is required and cannot be here; the text says why."""


def flags() -> list[str]:
    """Chromium's, for the mode. Blocks where a runtime class is the sandbox, as it may have no namespaces."""
    wanted = mode()
    if wanted is SandboxMode.SECCOMP:
        return []
    why_not = refusal() if wanted is SandboxMode.RUNTIME_CLASS else "not wanted"
    if why_not is None:
        return []
    log("sandbox.off", mode=wanted.value, reason=why_not)
    return [OFF]


def require() -> None:
    """Checks that the sandbox can start, where a browser ended before it said anything.

    Raises:
        SandboxRefused: for want of its sandbox.
    """
    if mode() is SandboxMode.SECCOMP and (why := refusal()):
        raise SandboxRefused(f"Chromium's sandbox cannot start: {why}")


def mode() -> SandboxMode:
    """The sandbox that this container is to have."""
    return SandboxMode(os.environ.get(SANDBOX_VARIABLE, SandboxMode.SECCOMP))
