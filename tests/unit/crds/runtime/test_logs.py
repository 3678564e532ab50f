"""Log lines: one JSON object an event."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from enum import Enum

import pytest
import structlog

from onair_crds.runtime import logs


class Phase(Enum):
    RUNNING = "Running"

    def __str__(self) -> str:
        return self.value


@pytest.fixture(autouse=True)
def former_configuration() -> Iterator[None]:
    former, handlers = structlog.get_config(), list(logging.root.handlers)
    yield
    structlog.configure(**former)
    logging.root.handlers = handlers


def test_an_event_is_one_json_object_with_time_and_level() -> None:
    file = io.StringIO()
    logs.configure("INFO", file)
    structlog.get_logger().info("broadcast.phase", project="show", phase=Phase.RUNNING)
    structlog.get_logger().debug("not.logged")
    (line,) = file.getvalue().splitlines()
    event = json.loads(line)
    assert list(event) == ["timestamp", "level", "event", "project", "phase"]
    assert event.pop("timestamp").endswith("Z")
    assert event == {"event": "broadcast.phase", "level": "info", "project": "show", "phase": "Running"}


def test_processors_add_fields() -> None:
    file = io.StringIO()
    logs.configure("INFO", file, processors=[lambda _, __, event: {**event, "request": "r"}])
    structlog.get_logger().info("event")
    assert json.loads(file.getvalue())["request"] == "r"


def test_an_exception_comes_with_its_traceback() -> None:
    file = io.StringIO()
    logs.configure("INFO", file)
    try:
        raise ValueError("why")
    except ValueError:
        structlog.get_logger().exception("broken")
    assert "ValueError: why" in json.loads(file.getvalue())["exception"]


def test_a_librarys_warning_is_one_json_object_with_the_same_keys_first() -> None:
    logging.root.handlers = []
    file = io.StringIO()
    logs.configure("INFO", file, processors=[lambda _, __, event: {**event, "request": "r"}])
    try:
        raise ValueError("why")
    except ValueError:
        logging.getLogger("asyncio").exception("task %s failed", "seven")
    logging.getLogger("asyncio").info("not logged")
    (line,) = file.getvalue().splitlines()
    event = json.loads(line)
    assert list(event)[:3] == ["timestamp", "level", "event"]
    assert (event["level"], event["event"], event["logger"]) == ("error", "task seven failed", "asyncio")
    assert "ValueError: why" in event["exception"]
    assert event["request"] == "r"
