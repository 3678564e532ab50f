"""Tests how soon a destination's connection is in its status, with the machine to itself."""

from __future__ import annotations

import time

from tests.support.cluster import LocalCluster, address, connect_of
from tests.support.receiver import ReceiverClient
from tests.support.shows import LiveShow

from onair_crds.contract.times import parse_time


def test_a_connection_is_in_the_status_within_a_second(
    on_air: LiveShow, cluster: LocalCluster, receiver: ReceiverClient, path: str
) -> None:
    """The bound is 500 ms, and tests gate at twice that, by the time in the status: kubectl takes its own."""
    destination = on_air.add_destination(**address(f"{path}-2"))
    arrived = receiver.wait_ready(f"{path}-2", 15)
    cluster.until("connected", lambda: connect_of(cluster, destination) == "Connected", 10)
    assert time.time() - arrived < 3
    since = parse_time(cluster.get("destination", destination)["status"]["since"])
    assert since.timestamp() - arrived < 1
