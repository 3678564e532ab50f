"""The installation's secret is taken from its file when that changes, and stays while it is of no use."""

from __future__ import annotations

from pathlib import Path

from onair_crds.runtime.rotated_secret import RotatedSecret
from onair_ingest.secret_file import take_secret

ONE, TWO = b"1" * 32, b"2" * 32


async def test_a_secret_is_replaced_by_one_that_nobody_could_guess(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    secret = RotatedSecret(ONE)
    await take_secret(file, secret)
    assert secret.present == ONE, "there is no file"
    for unusable in (b"", b"short"):
        file.write_bytes(unusable)
        await take_secret(file, secret)
        assert secret.present == ONE
    file.write_bytes(TWO)
    await take_secret(file, secret)
    assert secret.present == TWO
