"""A newcomer gets a sentence and an exit code, never a traceback."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from onair_dev import failures
from onair_dev.failures import Failed, exit_on_failure


def output_of(error: BaseException, capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    """The exit code and the message of a command that raises."""
    with pytest.raises(SystemExit) as ended, exit_on_failure():
        raise error
    return ended.value.code, capsys.readouterr().err


@pytest.fixture(autouse=True)
def logs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(failures, "LOGS", tmp_path / "logs")
    return tmp_path / "logs"


def test_a_failure_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert output_of(Failed("no Docker", "start it"), capsys) == (1, "  why   no Docker\n  try   start it\n")


def test_an_interruption_says_that_work_continues(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = output_of(KeyboardInterrupt(), capsys)
    assert code == 130
    assert "continues where it stopped" in text


def test_a_bug_is_reported_with_its_log(capsys: pytest.CaptureFixture[str], logs: Path) -> None:
    code, text = output_of(ValueError("what"), capsys)
    assert code == 1
    assert "ValueError: what" in text
    assert "please report it" in text
    assert "ValueError" in (logs / "traceback.log").read_text()


def test_a_full_disk_is_named_even_where_no_log_can_be_written(
    capsys: pytest.CaptureFixture[str], logs: Path
) -> None:
    logs.write_text("a file in the place of the folder")
    full = OSError(errno.ENOSPC, "No space left on device", "/cache/onair")
    assert output_of(full, capsys) == (1, "  why   No space left on device: /cache/onair\n")
