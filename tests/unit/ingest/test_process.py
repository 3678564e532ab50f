"""A gateway begins with a secret that nobody could guess, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from onair_ingest.process import run
from onair_ingest.settings import Settings


async def test_an_empty_secret_admits_nobody(tmp_path: Path) -> None:
    empty = tmp_path / "secret"
    empty.write_bytes(b"")
    with pytest.raises(ValueError, match="secret of ingest has 0 bytes"):
        await run(Settings(secret_file=empty))
