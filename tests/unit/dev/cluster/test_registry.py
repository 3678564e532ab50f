"""The local registry, which two tasks may need at the same moment."""

from __future__ import annotations

import contextlib
import threading
from types import SimpleNamespace

import pytest

from onair_dev.cluster import registry
from onair_dev.console_progress import Step


class Engine:
    """Creates and starts one container; a second one of the same name is a conflict."""

    def __init__(self) -> None:
        self.created = self.running = False
        self.both = threading.Barrier(2)

    def ensure_image(self, _: Step, __: str) -> tuple[SimpleNamespace, bool]:
        with contextlib.suppress(threading.BrokenBarrierError):
            self.both.wait(0.2)  # for the other task, if it may come here, too
        return SimpleNamespace(reference="onair/registry:1"), False

    def output_of(self, _: list[str]) -> str:
        return ""

    def run(self, _: str, __: str, command: list[str], **___: str) -> None:
        if command[1] == "create":
            assert not self.created, "the container name is in use"
            self.created = True
        else:
            self.running = True


def test_two_tasks_that_need_the_registry_start_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, failures = Engine(), list[BaseException]()
    monkeypatch.setattr(registry, "ensure_image", engine.ensure_image)
    monkeypatch.setattr(registry, "output_of", engine.output_of)
    monkeypatch.setattr(registry, "responds", lambda: engine.running)
    monkeypatch.setattr(Step, "run", lambda _, *args, **options: engine.run(*args, **options))

    def ensure() -> None:
        try:
            registry.ensure_registry(Step("push"))
        except AssertionError as error:
            failures.append(error)

    tasks = [threading.Thread(target=ensure) for _ in range(2)]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join(10)
    assert not failures
    assert engine.running
