"""A program that dies leaves no core dump, nor does one that it started."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

PREVENT = "from onair_crds.runtime.core_dumps import prevent_core_dumps as prevent; prevent(); "
OWN = PREVENT + "import os; os.abort()"
STARTED = (
    PREVENT + "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'import os; os.abort()'])"
)


def dumps(program: str, folder: Path) -> bool:
    """Whether the kernel writes a core dump of a program that may have one of any size."""

    def allow() -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

    pid = os.fork()
    if pid == 0:
        allow()
        os.chdir(folder)
        os.execve(  # noqa: S606 - subprocess does not say whether a core was dumped
            sys.executable, [sys.executable, "-c", program], {**os.environ, "PYTHONPATH": ":".join(sys.path)}
        )
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status)
    return os.WCOREDUMP(status)


@pytest.mark.parametrize("program", [OWN, STARTED], ids=["its own", "of one that it started"])
def test_there_is_none(program: str, tmp_path: Path) -> None:
    """Where the kernel writes none of any program, the limits below are what would prevent them elsewhere."""
    assert not dumps(program, tmp_path)


SHOW = "import resource; print(*resource.getrlimit(resource.RLIMIT_CORE))"
SHOW_OF_STARTED = f"import os, sys; os.execv(sys.executable, [sys.executable, '-c', '{SHOW}'])"
NONE_BEFORE = "resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); "


@pytest.mark.parametrize("show", [SHOW, SHOW_OF_STARTED], ids=["its own", "of one that it started"])
@pytest.mark.parametrize(("before", "expected"), [("", {"1 1", "0 0"}), (NONE_BEFORE, {"0 0"})])
def test_the_limit_is_set_whatever_it_was(before: str, expected: set[str], show: str) -> None:
    command = [sys.executable, "-c", f"import resource; {before}{PREVENT}{show}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() in expected
