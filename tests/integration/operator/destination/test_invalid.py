"""A destination that was stored under other rules, on a real API server."""

from __future__ import annotations

from tests.support.control_plane import ControlPlane
from tests.support.operated_namespace import OperatedNamespace


async def test_a_destination_of_other_rules_is_told_which_one_it_breaks_and_its_neighbour_works(
    cluster: OperatedNamespace, control_plane: ControlPlane
) -> None:
    address = {"rtmpPush": {"url": "rtmp://media.example/live"}}
    another = {"rtmpPush": {"url": "rtmp://media.example/another"}}
    await cluster.collection()
    await cluster.project("Stopped")
    await cluster.create("Destination", "old", {"projectId": "show", "address": address})
    control_plane.store(
        f"onair.dev/destinations/{cluster.namespace}/old", lambda stored: stored["spec"].update(timeout=50)
    )
    async with cluster.operator():
        condition = await cluster.ready("Destination", "old", "Invalid")
        assert "spec.timeout: Input should be greater than or equal to 100" in condition["message"]
        await cluster.create("Destination", "new", {"projectId": "show", "address": another})
        await cluster.ready("Destination", "new", "NotRunning")
        await cluster.patch("Destination", "old", {"timeout": 100})
        await cluster.ready("Destination", "old", "NotRunning")
