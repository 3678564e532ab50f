"""Whether this container may have what Chromium's own sandbox is made of: namespaces of a user of its own.

Uses only the standard library. Run as a module it tries: who has tried is in another namespace afterwards.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import subprocess
import sys

NEW_USER, NEW_PID, NEW_NETWORK = 0x1000_0000, 0x2000_0000, 0x4000_0000
CLONE = {"x86_64": 56}
"""The number of clone; 220 where system calls came late enough to have the same numbers everywhere."""
TIMEOUT_S = 10.0
_REASONS = {
    errno.EPERM: "the container's seccomp profile, AppArmor or kernel.unprivileged_userns_clone refuses them",
    errno.ENOSPC: "user.max_user_namespaces of the node is reached, or 0",
    errno.EUSERS: "the node has them nested too deeply",
    errno.EINVAL: "the node's kernel has none",
    errno.ENOSYS: "the node's kernel has none",
}
_NO_CAPABILITIES = (
    "a user namespace gives no capabilities here: AppArmor (kernel.apparmor_restrict_unprivileged_userns) or"
    " the container's seccomp profile takes them"
)


def refusal() -> str | None:
    """Why there can be none; None if there can. Blocks for some 30 ms."""
    command = [sys.executable, "-m", "onair_crds.runtime.user_namespaces"]
    try:
        tried = subprocess.run(command, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"user namespaces could not be tried: {type(error).__name__}"
    if tried.returncode == 0:
        return None
    return tried.stdout.strip() or f"user namespaces could not be tried: status {tried.returncode}"


def attempt() -> str | None:
    """What Chromium does, in this process: its namespaces by clone, one by unshare, and chroot within."""
    libc = ctypes.CDLL(None, use_errno=True)
    clone = CLONE.get(platform.machine(), 220)
    flags = NEW_USER | NEW_PID | NEW_NETWORK | signal.SIGCHLD
    child = libc.syscall(clone, flags, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    if child < 0 or libc.unshare(NEW_USER) < 0:
        number = ctypes.get_errno()
        why = _REASONS.get(number, os.strerror(number))
        return f"there can be no user namespaces ({errno.errorcode.get(number, number)}): {why}"
    os.waitpid(child, 0)
    try:
        os.chroot("/proc/self/fdinfo")
    except OSError:
        return _NO_CAPABILITIES
    return None


def main() -> int:
    """Prints why Chromium's sandbox cannot work here; gives the exit code, 0 where it can."""
    found = attempt()
    if found:
        sys.stdout.write(found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
