"""Which tests share the machine with others."""

from __future__ import annotations

import pytest
from tests.support.side_by_side import part_of, runs_alone


@pytest.mark.parametrize(
    ("file", "part", "alone"),
    [
        ("tests/unit/support/test_side_by_side.py", "unit", False),
        ("tests/integration/api/live/test_source.py", "integration", False),
        ("tests/integration/web/compositor/test_geometry.py", "integration with media", False),
        ("tests/integration/encoder/pod/test_show.py", "integration with media", True),
        ("tests/soak/test_soak.py", "soak", True),
        ("tests/e2e/test_lifecycle.py", "e2e", True),
    ],
)
def test_whole_encoders_have_the_machine_to_themselves(file: str, part: str, alone: bool) -> None:
    assert part_of(file) == part
    assert runs_alone(file) is alone
