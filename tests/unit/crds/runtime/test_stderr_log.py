"""Log lines without structlog."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import onair_crds
from onair_crds.runtime.stderr_log import log

CRDS = Path(onair_crds.__file__).parents[1]


def test_an_event_is_one_json_object_with_time_and_level(capsys: pytest.CaptureFixture[str]) -> None:
    log("child.ended", name="ffmpeg", code=1)
    event = json.loads(capsys.readouterr().err)
    assert list(event) == ["timestamp", "level", "event", "name", "code"]
    assert event.pop("timestamp").endswith("Z")
    assert event == {"level": "info", "event": "child.ended", "name": "ffmpeg", "code": 1}


def test_an_error_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    log("child.not-started", error="no memory")
    assert json.loads(capsys.readouterr().err)["level"] == "warning"


def test_it_needs_the_standard_library_alone() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(CRDS)!r}); import onair_crds.runtime.stderr_log\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    command = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - sys.stdlib_module_names == {"__main__", "onair_crds"}
