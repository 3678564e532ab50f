"""Why there can be no user namespaces is said in words for whoever can change it."""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys

import pytest

from onair_crds.runtime.user_namespaces import attempt, refusal


class Libc:
    """Refuses to make namespaces, as a kernel would."""

    def __init__(self, number: int) -> None:
        self._number = number

    def syscall(self, *_: int) -> int:
        ctypes.set_errno(self._number)
        return -1


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (errno.EPERM, "(EPERM): the container's seccomp profile, AppArmor"),
        (errno.ENOSPC, "(ENOSPC): user.max_user_namespaces of the node is reached, or 0"),
        (errno.ENOSYS, "(ENOSYS): the node's kernel has none"),
        (errno.ENOMEM, f"(ENOMEM): {os.strerror(errno.ENOMEM)}"),
    ],
)
def test_a_kernels_refusal_is_said_in_words(number: int, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Libc(number))
    assert (attempt() or "").startswith(f"there can be no user namespaces {text}")


def told(monkeypatch: pytest.MonkeyPatch, script: str) -> str | None:
    def run(_: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        return original([sys.executable, "-c", script], check=False, capture_output=True, text=True)

    original = subprocess.run
    monkeypatch.setattr(subprocess, "run", run)
    return refusal()


def test_what_the_attempt_says_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, "print('no'); raise SystemExit(1)") == "no"


def test_an_attempt_that_dies_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "import os; os.kill(os.getpid(), 9)"
    assert told(monkeypatch, script) == "user namespaces could not be tried: status -9"


def test_an_attempt_that_succeeds_leaves_nothing_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, "") is None
