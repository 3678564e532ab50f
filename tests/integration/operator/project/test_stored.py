"""A project that was stored under other rules, on a real API server."""

from __future__ import annotations

from tests.support.control_plane import ControlPlane
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.shapes import Document


def widen(stored: Document) -> None:
    stored["spec"]["rendering"] = {"video": {"width": 100_000}}


async def test_a_show_of_other_rules_goes_on_is_told_which_one_it_breaks_and_can_be_stopped_and_corrected(
    cluster: OperatedNamespace, control_plane: ControlPlane
) -> None:
    await cluster.collection()
    await cluster.project(broadcast={"state": "Running", "id": "first"})
    async with cluster.operator():
        await cluster.phase("Waiting")
        await cluster.pod("show-first-1")
    control_plane.store(f"onair.dev/projects/{cluster.namespace}/show", widen)
    async with cluster.operator():
        condition = await cluster.ready("Project", "show", "Invalid")
        assert (
            "spec.rendering.video.width: Input should be less than or equal to 3840" in condition["message"]
        )
        status = await cluster.phase("Waiting")
        assert status["broadcast"]["pod"] == "show-first-1"
        assert len(await cluster.pods()) == 1
        await cluster.project("Stopped", name="neighbour")
        await cluster.ready("Project", "neighbour", "NotRunning")
        await cluster.patch("Project", "show", {"broadcast": {"state": "Stopped"}})
        await cluster.phase("Stopped")

        async def no_pods() -> bool:
            return not await cluster.pods()

        await until(no_pods, "its pod is deleted")
        corrected = {"rendering": {"video": {"width": 1280}}, "broadcast": {"state": "Running", "id": "next"}}
        await cluster.patch("Project", "show", corrected)
        await cluster.phase("Waiting")
        await cluster.pod("show-next-1")
