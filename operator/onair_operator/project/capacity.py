"""Says why no node takes a show, and what would help. Pure."""

from __future__ import annotations

from onair_crds.contract.labels import REGION_LABEL
from onair_crds.contract.pod import SandboxMode
from onair_crds.resources.enums import RenderingQuality
from onair_crds.resources.project import BroadcastStatus
from onair_crds.resources.rendering import Rendering
from onair_operator.encoder.cost import Cost, cost_of
from onair_operator.encoder.placement import regions_by_distance
from onair_operator.project.observed import ObservedProject
from onair_operator.settings import OperatorSettings, SandboxSettings
from onair_operator.specs.ready import Verdict


def no_capacity(
    observed: ObservedProject, broadcast: BroadcastStatus, settings: OperatorSettings
) -> Verdict | None:
    """Why the claimed pod has no node; None while the scheduler has refused nothing."""
    pod = observed.claimed_pod(broadcast)
    if pod is None or not pod.unschedulable:
        return None
    rendering = observed.project.spec.rendering
    cost = cost_of(rendering, settings.encoder.cost)
    names = [r.name for r in regions_by_distance(observed.project.spec.location, settings.regions)]
    empty = [name for name in names if observed.regions is not None and name not in observed.regions]
    if names and empty == names:
        text = f"{_no_node_has_the_label(empty)}: label nodes, or correct the value regions; queued"
    elif missing := _missing_sandbox(observed.sandboxes, settings.encoder.sandbox):
        text = (
            f"no node has the label {missing}, which says that the browser's seccomp profile is installed and"
            f" works: see the DaemonSet onair-sandbox{_pulled_with(settings.encoder.image_pull_secrets)}, or"
            " docs/reference/sandbox.md; queued"
        )
    else:
        memory_mib = cost.browser_memory_mib + cost.encoder_memory_mib
        unlabelled = f" N{_no_node_has_the_label(empty)[1:]}." if empty else ""
        text = (
            f"{_no_node_of(names)} has {cost.cores:.1f} CPU and {memory_mib} MiB free"
            f" (needed by {_needed_by(rendering)}{_whole_cpus(cost)}); queued.{unlabelled}"
        )
    return Verdict(False, "NoCapacity", f"{text.removesuffix('.')}. The scheduler says: {pod.unschedulable}")


def _missing_sandbox(sandboxes: frozenset[str] | None, sandbox: SandboxSettings) -> str | None:
    """The label that encoder pods need and no node has."""
    if sandboxes is None or sandbox.mode is not SandboxMode.SECCOMP or sandbox.node_label in sandboxes:
        return None
    return sandbox.node_label or None


def _pulled_with(secrets: list[str]) -> str:
    """A cause that nothing in the show namespace shows."""
    return f", whose namespace needs {', '.join(secrets)} of images.pullSecrets, too" if secrets else ""


def _no_node_of(regions: list[str]) -> str:
    if not regions:
        return "no node"
    return f"no node of {'region' if len(regions) == 1 else 'regions'} {', '.join(regions)}"


def _no_node_has_the_label(regions: list[str]) -> str:
    return f"no node has the label {' or '.join(f'{REGION_LABEL}={region}' for region in regions)}"


def _needed_by(rendering: Rendering) -> str:
    """What the cost of a show comes from: size, frame rate, and all that differs from the default."""
    video = rendering.video
    parts = [f"{video.width}×{video.height}@{video.framerate:g}"]
    if rendering.complexity:
        parts.append(f"complexity {rendering.complexity}")
    if rendering.quality is not RenderingQuality.STANDARD:
        parts.append(f"quality {rendering.quality.value}")
    return ", ".join(parts)


def _whole_cpus(cost: Cost) -> str:
    """What asks for more than the cost table says."""
    return ", whole CPUs by encoder.cost.exclusiveCpus" if cost.exclusive else ""
