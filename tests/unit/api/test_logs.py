"""The facade's log lines."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from onair_api import logs


@pytest.fixture(autouse=True)
def former_configuration() -> Iterator[None]:
    former, handlers = structlog.get_config(), list(logging.root.handlers)
    yield
    structlog.configure(**former)
    logging.root.handlers = handlers


@pytest.mark.parametrize(
    "character", ["\n", "\r", "\x1b", "\x85", "\x9b", "\u2028", "\u2029", "\u202e", "\u2066"]
)
def test_an_id_ends_no_line_and_steers_no_terminal(character: str) -> None:
    file = io.StringIO()
    logs.configure("INFO", file)
    forged = f'a{character}{{"level": "error"}}b\u00fcr\u65e5'
    structlog.get_logger().info("http.request", ids={"collectionId": forged})
    text = file.getvalue()
    (line,) = text.splitlines()
    assert json.loads(line)["ids"] == {"collectionId": forged}
    assert character not in line
    assert "b\u00fcr\u65e5" in line, "letters of all languages stay as they are"
