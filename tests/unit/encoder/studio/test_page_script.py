"""The script is for pages of the studio, and names what they find on the loopback."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from tests.support.small_program import small_program

from onair_crds.contract.program import ProgramStudio
from onair_encoder.studio.page_script import page_script

STUDIO = ProgramStudio(redirected_hosts=["built.in.example"])
ORIGIN = "https://studio.example"


@pytest.mark.parametrize(("studio", "origin"), [(None, ORIGIN), (STUDIO, None)])
def test_other_pages_get_no_script(studio: ProgramStudio | None, origin: str | None) -> None:
    assert page_script(small_program(studio=studio), origin) is None


def test_the_script_names_the_loopback_and_nothing_that_is_secret() -> None:
    program = small_program(
        studio=STUDIO, page_token=SecretStr("of-the-page"), facade_url="http://onair-api.onair.svc"
    )
    script = page_script(program, ORIGIN)
    assert script
    assert f'location.origin === "{ORIGIN}"' in script
    assert '{"hosts": ["built.in.example"], "base": "http://127.0.0.1:8450/facade"}' in script
    assert '"engine": "ws://127.0.0.1:8000"' in script
    assert '"script": "http://127.0.0.1:8450/sources/source.js"' in script
    assert "of-the-page" not in script
    assert "onair-api" not in script
    assert len(script) < 32_000, "a line to the browser's container has bounds"
