"""NoCapacity says which nodes are missing, and what the need comes from."""

from __future__ import annotations

from typing import Any

from tests.support.plans import status_of
from tests.support.worlds import SETTINGS, pod, project, run, world

from onair_operator.settings import CostSettings, EncoderSettings, OperatorSettings, SandboxSettings

LABEL = "sandbox.onair.dev/chromium-0"
SANDBOXED = SETTINGS.model_copy(
    update={"encoder": EncoderSettings(sandbox=SandboxSettings(node_label=LABEL))}
)


def message_of(
    regions: frozenset[str] | None = None,
    sandboxes: frozenset[str] | None = None,
    settings: OperatorSettings = SETTINGS,
    **spec: Any,
) -> str:
    waiting = world(
        project(status={"broadcast": run("Waiting")}, location={"latitude": 48.0, "longitude": 11.0}, **spec),
        pods=[pod(node=None, ip=None, unschedulable="0/3 nodes are available: 3 Insufficient cpu.")],
        regions=regions,
        sandboxes=sandboxes,
    )
    condition = status_of(waiting, settings=settings).conditions[0]
    assert condition.reason == "NoCapacity"
    return condition.message


def test_it_says_where_and_how_much() -> None:
    message = message_of(rendering={"video": {"width": 1920, "height": 1080}})
    assert message.startswith("no node of regions eu-central-1, us-east-1 has 1.4 CPU")
    assert "(needed by 1920×1080@30); queued." in message
    assert "Insufficient cpu" in message


def test_it_names_what_else_the_cost_comes_from() -> None:
    message = message_of(rendering={"complexity": 4, "quality": "High"})
    assert "(needed by 1280×720@30, complexity 4, quality High); queued" in message


def test_it_says_that_whole_cpus_were_asked_for() -> None:
    exclusive = EncoderSettings(cost=CostSettings(exclusive_cpus=True))
    message = message_of(settings=SETTINGS.model_copy(update={"encoder": exclusive}))
    assert " has 2.0 CPU and 2688 MiB free (needed by 1280×720@30, whole CPUs by " in message
    assert ", whole CPUs by encoder.cost.exclusiveCpus); queued" in message


def test_it_says_that_no_node_has_a_regions_label() -> None:
    assert message_of(frozenset({"mars"})).startswith(
        "no node has the label topology.kubernetes.io/region=eu-central-1"
        " or topology.kubernetes.io/region=us-east-1: label nodes, or correct the value regions; queued."
    )


def test_it_names_the_one_region_that_is_empty() -> None:
    message = message_of(frozenset({"us-east-1"}))
    assert message.startswith("no node of regions eu-central-1, us-east-1 has")
    assert (
        "queued. No node has the label topology.kubernetes.io/region=eu-central-1. The scheduler" in message
    )


def test_it_says_that_no_node_has_the_browsers_seccomp_profile() -> None:
    """Where one has, or the sandbox needs none, it is room that is missing."""
    assert message_of(None, frozenset({"sandbox.onair.dev/chromium-1"}), SANDBOXED).startswith(
        f"no node has the label {LABEL}, which says that the browser's seccomp profile is installed and"
        " works: see the DaemonSet onair-sandbox, or docs/reference/sandbox.md; queued. The scheduler"
    )
    pulled = SANDBOXED.encoder.model_copy(update={"image_pull_secrets": ["one", "two"]})
    assert (
        "see the DaemonSet onair-sandbox, whose namespace needs one, two of images.pullSecrets, too, or"
        " docs/reference/sandbox.md; queued."
    ) in message_of(None, frozenset(), SANDBOXED.model_copy(update={"encoder": pulled}))
    for sandboxes, settings in ((frozenset({LABEL}), SANDBOXED), (None, SANDBOXED), (frozenset(), SETTINGS)):
        assert message_of(None, sandboxes, settings).startswith("no node of regions")
