"""A node has its label while Chromium's sandbox works there, and only then."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from onair_operator.sandbox import node_label
from onair_operator.sandbox.node_label import LabelRefused, NodeLabel, keep


class RecordingNodeLabel(NodeLabel):
    """Takes what is written; fails as a test says, and stops after so many looks."""

    def __init__(self, stop: Event, looks: int, failures: list[Exception | None] | None = None) -> None:
        super().__init__("node", "label")
        self.written: list[str | None] = []
        self._stop, self._looks, self._failures = stop, looks, failures or []

    def write(self, value: str | None) -> None:
        self.written.append(value)
        if len(self.written) == self._looks:
            self._stop.set()
        if self._failures and (failure := self._failures.pop(0)):
            raise failure


@pytest.fixture(autouse=True)
def ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("INTERVAL_S", "RETRY_S"):
        monkeypatch.setattr(node_label, name, 0.0)
    monkeypatch.setattr(node_label, "READY", tmp_path / "labelled")
    return tmp_path / "labelled"


def test_it_is_written_again_as_somebody_may_have_removed_it(ready: Path) -> None:
    stop = Event()
    label = RecordingNodeLabel(stop, 3)
    keep(label, stop, lambda: None)
    assert label.written == ["installed"] * 3
    assert ready.exists()


def test_a_node_where_the_sandbox_does_not_work_loses_it_and_says_so_once(
    ready: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stop = Event()
    label = RecordingNodeLabel(stop, 3)
    refusals = iter([None, "no user namespaces", "no user namespaces"])
    keep(label, stop, lambda: next(refusals))
    assert label.written == ["installed", None, None]
    assert not ready.exists()
    said = capsys.readouterr().err
    assert said.count("no user namespaces") == 1
    assert said.count('"node.labelled"') == 1


@pytest.mark.parametrize(
    "failure", [OSError("timed out"), LabelRefused("the API server responds with HTTP 403")]
)
def test_one_that_could_not_be_written_is_tried_again_and_not_ready_until_then(
    failure: Exception, ready: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stop = Event()
    first = RecordingNodeLabel(stop, 1, [failure])
    keep(first, stop, lambda: None)
    assert not ready.exists()
    assert f"the node's label could not be written: {failure}" in capsys.readouterr().err
    stop.clear()
    second = RecordingNodeLabel(stop, 2, [failure, None])
    keep(second, stop, lambda: None)
    assert second.written == ["installed", "installed"]
    assert ready.exists()
