"""Has the kernel run a thread soon after it wakes, ahead of those that want the processor for longer.

Meant for threads that run for a moment, and whose moment matters. Linux 6.12 and later take a thread's wish
for the length of its turns, and let those of short turns go first; nobody gets more of the processor by it,
and no right is needed. Others ignore the wish.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

SLICE_NS = 100_000
"""The shortest that Linux grants; usual are 1 to 4 ms."""
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274, "riscv64": 274}
"""Numbers of the system call, by machine: neither Python nor the C library of Debian 12 has it."""
_ATTRIBUTES = struct.Struct("IIQiIQQQII")
"""Of `struct sched_attr`: size, policy, flags, nice, priority, runtime, and what other policies have."""
_SCHED_OTHER = 0


def ask_for_short_slices(thread: int) -> bool:
    """Asks for the shortest turns for a thread.

    Args:
        thread: its id; that of a process is its first thread's.

    Returns:
        whether the kernel took it. It does not where the thread has ended, or in a sandbox without the call.
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if number is None:
        return False
    try:
        nice = os.getpriority(os.PRIO_PROCESS, thread)
        libc = ctypes.CDLL(None)
    except OSError:
        return False
    attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, _SCHED_OTHER, 0, nice, 0, SLICE_NS, 0, 0, 0, 0)
    return bool(libc.syscall(number, thread, attributes, 0) == 0)
