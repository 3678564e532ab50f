"""Passphrases of SRT that cannot be used."""

from __future__ import annotations

import pytest

from onair_crds.session_error import SessionError
from onair_encoder.publish.srt.encryption import checked_passphrase


def test_a_passphrase_is_in_no_text() -> None:
    with pytest.raises(SessionError) as lost:
        checked_passphrase("s3cret")
    assert "s3cret" not in str(lost.value)
