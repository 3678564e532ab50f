"""A destination that was stored under other rules, on a real API server."""

from __future__ import annotations

from tests.support.control_plane import ControlPlane
from tests.support.operated_namespace import OperatedNamespace


async def test_a_destination_of_other_rules_is_told_which_one_it_breaks_and_its_neighbour_works(
    operated_namespace: OperatedNamespace, control_plane: ControlPlane
) -> None:
    address = {"rtmpPush": {"url": "rtmp://media.example/live"}}
    another = {"rtmpPush": {"url": "rtmp://media.example/another"}}
    await operated_namespace.collection()
    await operated_namespace.project("Stopped")
    await operated_namespace.create("Destination", "old", {"projectId": "show", "address": address})
    control_plane.store(
        f"onair.dev/destinations/{operated_namespace.namespace}/old",
        lambda stored: stored["spec"].update(timeout=50),
    )
    async with operated_namespace.operator():
        condition = await operated_namespace.ready("Destination", "old", "Invalid")
        assert "spec.timeout: Input should be greater than or equal to 100" in condition["message"]
        await operated_namespace.create("Destination", "new", {"projectId": "show", "address": another})
        await operated_namespace.ready("Destination", "new", "NotRunning")
        await operated_namespace.patch("Destination", "old", {"timeout": 100})
        await operated_namespace.ready("Destination", "old", "NotRunning")
