"""Two commands of `make` at the same time."""

from __future__ import annotations

import fcntl
import threading
import time
from pathlib import Path
from typing import IO

import pytest

from onair_dev import exclusive as module
from onair_dev.exclusive import exclusive
from onair_dev.subprocesses import Cancelled


def test_a_second_make_waits_for_the_first_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "CACHE", tmp_path)
    order: list[str] = []

    def second() -> None:
        with exclusive("bootstrap", "prepares this machine"):
            order.append("second")

    waits = threading.Event()

    def pause(_: float) -> None:
        waits.set()
        time.sleep(0.001)

    monkeypatch.setattr(module, "pause", pause)
    other = threading.Thread(target=second)
    with exclusive("bootstrap", "prepares this machine"):
        other.start()
        assert waits.wait(10)
        order.append("first")
    other.join(10)
    assert order == ["first", "second"]
    assert capfd.readouterr().err == "another `make` prepares this machine; waiting for it\n"


def test_the_lock_of_a_dead_process_is_no_obstacle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "CACHE", tmp_path)
    (tmp_path / "bootstrap.lock").touch()
    with exclusive("bootstrap", "prepares this machine"):
        pass


def test_an_interrupted_make_holds_the_lock_until_its_process_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its threads may still be ending."""
    monkeypatch.setattr(module, "CACHE", tmp_path)
    held: list[IO[str]] = []
    monkeypatch.setattr(module, "_HELD_TO_THE_END", held)
    with pytest.raises(KeyboardInterrupt), exclusive("onair", "builds"):
        raise KeyboardInterrupt
    with (tmp_path / "onair.lock").open("w") as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held.pop().close()
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_who_waits_for_the_lock_is_interrupted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "CACHE", tmp_path)

    def pause(_: float) -> None:
        raise Cancelled("waiting")

    monkeypatch.setattr(module, "pause", pause)
    with (
        exclusive("web", "installs packages"),
        pytest.raises(Cancelled),
        exclusive("web", "installs packages"),
    ):
        pytest.fail("it is taken")
    with exclusive("web", "installs packages"):
        pass
