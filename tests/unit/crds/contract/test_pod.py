"""Where an encoder pod's control interface is."""

from __future__ import annotations

import pytest

from onair_crds.contract.pod import PROGRAM_PATH, control_url


@pytest.mark.parametrize(
    ("ip", "url"),
    [
        ("10.0.0.9", "https://10.0.0.9:8443/v1/program"),
        ("fd00::9", "https://[fd00::9]:8443/v1/program"),
    ],
)
def test_the_control_interface_is_found_by_either_kind_of_address(ip: str, url: str) -> None:
    assert control_url(ip, PROGRAM_PATH) == url
