"""An encoder pod on a real API server: what it makes of what the pod asks for."""

from __future__ import annotations

import pytest
from tests.support.operated_namespace import OperatedNamespace
from tests.support.worlds import SETTINGS, project

from onair_crds.kube.apis import PODS
from onair_operator.encoder.cost import cost_of
from onair_operator.settings import CostSettings
from onair_operator.specs.pod_manifest import unclaimed_pod


@pytest.mark.parametrize(("exclusive", "qos"), [(False, "Burstable"), (True, "Guaranteed")])
async def test_a_pod_with_exclusive_cpus_is_one_that_the_kubelet_gives_them_to(
    operated_namespace: OperatedNamespace, exclusive: bool, qos: str
) -> None:
    """It gives them to containers that ask for whole ones, of pods of the class Guaranteed.

    The first container asks for less: it would keep them until the pod is gone.
    """
    cost = cost_of(project().spec.rendering, CostSettings(exclusive_cpus=exclusive))
    manifest = unclaimed_pod("spare-1", SETTINGS.encoder, SETTINGS.inside, cost, SETTINGS.regions)
    pod = await operated_namespace.client.create(PODS, operated_namespace.namespace, manifest)
    assert pod["status"]["qosClass"] == qos
    asked = [
        each["resources"]["requests"]["cpu"]
        for each in (*pod["spec"]["initContainers"], *pod["spec"]["containers"])
    ]
    assert asked == (["1999m", "1", "1"] if exclusive else ["750m", "413m", "337m"])
