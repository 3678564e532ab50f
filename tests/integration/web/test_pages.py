"""Types and unit tests of the pages, by their own tools."""

from __future__ import annotations

import pytest

from onair_dev.failures import Failed
from onair_dev.tools import web


def run(name: str) -> None:
    try:
        web.check() if name == "check" else web.test()
    except Failed as error:
        pytest.fail(f"{error}: {error.log.read_text()[-4000:] if error.log else ''}", pytrace=False)


def test_the_types_of_the_pages_are_sound() -> None:
    run("check")


def test_the_units_of_the_pages_do_what_they_should() -> None:
    run("test")
