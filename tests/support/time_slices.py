"""How long the kernel lets threads run in one turn. Standard library alone: it is run in containers, too."""

from __future__ import annotations

import ctypes
import platform
import struct
import threading

_SCHED_GETATTR = {"x86_64": 315, "aarch64": 275, "riscv64": 275}
_ATTRIBUTES = struct.Struct("IIQiIQQQII")


def slice_ns(thread: int) -> int:
    """What a thread has asked for, in nanoseconds, or the kernel's own; 0 where it knows of none."""
    attributes = ctypes.create_string_buffer(_ATTRIBUTES.size)
    number = _SCHED_GETATTR[platform.machine()]
    assert ctypes.CDLL(None).syscall(number, thread, attributes, _ATTRIBUTES.size, 0) == 0
    return int(_ATTRIBUTES.unpack(attributes.raw)[5])


def slices_are_kept() -> bool:
    """Whether this kernel has them: Linux 6.12 and later say how long one is, even unasked."""
    return slice_ns(threading.get_native_id()) > 0
