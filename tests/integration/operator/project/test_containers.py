"""Containers that cannot start, as a kubelet says: a condition, then another encoder, then the end."""

from __future__ import annotations

import asyncio
import datetime as dt

from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.contract.times import format_time
from onair_crds.shapes import Document
from onair_operator.settings import BroadcastSettings

IMAGE = "onair/encoder:x"
FAILURES = [
    ("ImagePullBackOff", "Back-off pulling image", "ImagePullFailed", f"{IMAGE}: Back-off pulling image"),
    (
        "CreateContainerConfigError",
        'secret "x" not found',
        "ContainerFailed",
        'container browser: secret "x" not found',
    ),
    ("RunContainerError", "exec: not found", "ContainerFailed", "container browser: exec: not found"),
    (
        "CrashLoopBackOff",
        "back-off 10s restarting failed container",
        "ContainerFailed",
        "container browser keeps ending; see its log",
    ),
]


async def fail(operated_namespace: OperatedNamespace, name: str, reason: str, message: str) -> None:
    """What scheduler and kubelet say of a pod, one of whose containers never starts."""
    await operated_namespace.pod(name)
    await operated_namespace.bind(name, "node-1")
    # Times are of whole seconds: of the present one, much of the bound may have gone by
    since = format_time(dt.datetime.now(dt.UTC) + dt.timedelta(seconds=1), "seconds")
    not_ready = {"type": "ContainersReady", "status": "False", "lastTransitionTime": since}
    container: Document = {
        "name": "browser",
        "image": IMAGE,
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": {"waiting": {"reason": reason, "message": message}},
    }
    conditions = [{"type": "PodScheduled", "status": "True"}, not_ready]
    await operated_namespace.pod_is(
        name, {"phase": "Pending", "conditions": conditions, "containerStatuses": [container]}
    )


async def see_it_end(
    operated_namespace: OperatedNamespace, waiting: str, message: str, reason: str, told: str
) -> None:
    show = waiting.lower()
    await operated_namespace.project(name=show, broadcast={"state": "Running", "id": "first"})
    await fail(operated_namespace, f"{show}-first-1", waiting, message)
    condition = await operated_namespace.ready("Project", show, reason)
    assert condition["message"] == told
    await fail(operated_namespace, f"{show}-first-2", waiting, message)
    status = await operated_namespace.phase("Stopped", show)
    assert status["broadcast"]["error"] == "Internal"
    condition = await operated_namespace.ready("Project", show, "EncoderFailed")
    assert condition["status"] == "False"


async def test_containers_that_cannot_start_are_told_and_end_their_runs_after_the_bound(
    operated_namespace: OperatedNamespace,
) -> None:
    """A show for each reason, side by side, as most of the time is the bound."""
    async with operated_namespace.operator(
        broadcast=BroadcastSettings(container_timeout_s=3.0, stop_grace_s=1.0, max_losses=1)
    ):
        await operated_namespace.collection()
        await asyncio.gather(*(see_it_end(operated_namespace, *failure) for failure in FAILURES))

        async def ended() -> bool:
            pods = [
                pod for pod in await operated_namespace.pods() if "deletionTimestamp" not in pod["metadata"]
            ]
            reasons = {reason for _, _, reason, _ in FAILURES}
            return not pods and reasons | {"EncoderLost", "Stopped"} <= set(await operated_namespace.events())

        await until(ended, "no pod is left, and the events tell why")
