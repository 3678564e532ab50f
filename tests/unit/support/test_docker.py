"""The address of Docker's bridge, in both shapes that its inspection has."""

from __future__ import annotations

import pytest
from tests.support.docker import gateway_of


@pytest.mark.parametrize(
    ("config", "address"),
    [
        ({"Subnet": "172.17.0.0/16", "Gateway": "172.17.0.1"}, "172.17.0.1"),
        ({"Subnet": "172.17.0.0/16"}, "172.17.0.1"),
        ({"Subnet": "172.17.0.0/16", "Gateway": ""}, "172.17.0.1"),
        ({"Subnet": "10.200.8.0/24", "Gateway": "10.200.8.254"}, "10.200.8.254"),
        ({"Subnet": "10.200.8.128/25"}, "10.200.8.129"),
    ],
)
def test_the_gateway_is_the_one_that_is_named_or_the_first_of_the_subnet(
    config: dict[str, str], address: str
) -> None:
    bridge = {"Name": "bridge", "IPAM": {"Driver": "default", "Options": None, "Config": [config]}}
    assert gateway_of(bridge) == address
