"""A project that was stored under other rules, on a real API server."""

from __future__ import annotations

from tests.support.control_plane import ControlPlane
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.shapes import Document


def widen(stored: Document) -> None:
    stored["spec"]["rendering"] = {"video": {"width": 100_000}}


async def test_a_show_of_other_rules_goes_on_is_told_which_one_it_breaks_and_can_be_stopped_and_corrected(
    operated_namespace: OperatedNamespace, control_plane: ControlPlane
) -> None:
    await operated_namespace.collection()
    await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
    async with operated_namespace.operator():
        await operated_namespace.phase("Waiting")
        await operated_namespace.pod("show-first-1")
    control_plane.store(f"onair.dev/projects/{operated_namespace.namespace}/show", widen)
    async with operated_namespace.operator():
        condition = await operated_namespace.ready("Project", "show", "Invalid")
        assert (
            "spec.rendering.video.width: Input should be less than or equal to 3840" in condition["message"]
        )
        status = await operated_namespace.phase("Waiting")
        assert status["broadcast"]["pod"] == "show-first-1"
        assert len(await operated_namespace.pods()) == 1
        await operated_namespace.project("Stopped", name="neighbour")
        await operated_namespace.ready("Project", "neighbour", "NotRunning")
        await operated_namespace.patch("Project", "show", {"broadcast": {"state": "Stopped"}})
        await operated_namespace.phase("Stopped")

        async def no_pods() -> bool:
            return not await operated_namespace.pods()

        await until(no_pods, "its pod is deleted")
        corrected = {"rendering": {"video": {"width": 1280}}, "broadcast": {"state": "Running", "id": "next"}}
        await operated_namespace.patch("Project", "show", corrected)
        await operated_namespace.phase("Waiting")
        await operated_namespace.pod("show-next-1")
