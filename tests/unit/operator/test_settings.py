"""Settings that the operator refuses to start with."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from onair_operator.settings import EncoderNetworkSettings


@pytest.mark.parametrize("name", ["roomUdpPort", "roomTcpPort"])
@pytest.mark.parametrize("port", [53, 443, 2379, 6443, 8443, 8472, 10_250, 10_259, 27_017, 51_820])
def test_rooms_have_no_port_at_which_others_listen(name: str, port: int) -> None:
    with pytest.raises(ValidationError, match="other programs listen there"):
        EncoderNetworkSettings.model_validate({name: port})


def test_ranges_of_name_servers_may_be_written_by_any_address_or_be_one() -> None:
    network = EncoderNetworkSettings.model_validate({"nameServers": ["10.96.0.10/12", "fd00::a"]})
    assert [str(each) for each in network.name_servers] == ["10.96.0.0/12", "fd00::a/128"]


@pytest.mark.parametrize("port", [0, 7881, 7882, 10_000, 30_881, 65_535])
def test_rooms_have_ports_of_their_own(port: int) -> None:
    assert EncoderNetworkSettings.model_validate({"roomTcpPort": port}).room_tcp_port == port
