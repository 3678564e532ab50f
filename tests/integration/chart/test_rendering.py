"""What the chart renders, compared with golden files; `ONAIR_UPDATE_GOLDEN=1` writes them anew.

`default.yaml` has everything, the others what their values change of it.
"""

import difflib
import os
from pathlib import Path

import pytest
from tests.support.helm import CHART, RELEASE, ROOT, SHOWS, Object, helm, named, render, steady

GOLDEN = Path(__file__).parent / "golden"
WORKLOADS = {"Deployment"}
CASES: dict[str, list[str | Path]] = {
    "default": [],
    "local": ["-f", ROOT / "dev/values.yaml"],
    "existing-services": ["-f", ROOT / "examples/values/existing-services.yaml"],
    "high-availability": ["-f", ROOT / "examples/values/high-availability.yaml"],
    "monitoring": ["-f", ROOT / "examples/values/monitoring.yaml"],
    "rtc": ["-f", ROOT / "examples/values/rtc.yaml"],
}


def golden_text(case: str) -> tuple[Path, str]:
    """The golden file of a case, and what it should say now."""
    default, rendered = (steady(render("--set", "crds.enabled=false", *CASES[c])) for c in ("default", case))
    if case == "default":
        return GOLDEN / "default.yaml", default
    change = difflib.unified_diff(default.splitlines(True), rendered.splitlines(True), "default", case, n=12)
    return GOLDEN / f"{case}.diff", "".join(change)


@pytest.mark.parametrize("case", CASES)
def test_renders_what_the_golden_file_says(case: str) -> None:
    golden, wanted = golden_text(case)
    if os.environ.get("ONAIR_UPDATE_GOLDEN"):
        golden.write_text(wanted)
    assert wanted == golden.read_text(), f"{golden.name}: run with ONAIR_UPDATE_GOLDEN=1, and read the diff"


@pytest.mark.parametrize("case", CASES)
def test_passes_helms_own_checks(case: str) -> None:
    helm("lint", "--strict", CHART, *CASES[case])


def test_carries_every_resource_definition_and_keeps_it_unless_asked() -> None:
    def annotations(*options: str) -> dict[str, Object]:
        definitions = [o for o in render(*options) if o["kind"] == "CustomResourceDefinition"]
        return {d["spec"]["names"]["kind"]: d["metadata"].get("annotations") or {} for d in definitions}

    kept = annotations()
    assert set(kept) == {"Collection", "Project", "Source", "Destination", "Layout"}
    assert all(each["helm.sh/resource-policy"] == "keep" for each in kept.values())
    assert not any(annotations("--set", "crds.keep=false").values())
    assert not annotations("--set", "crds.enabled=false")


@pytest.mark.parametrize("case", CASES)
def test_pods_have_no_more_rights_than_they_need(case: str) -> None:
    for workload in (o for o in render(*CASES[case]) if o["kind"] in WORKLOADS):
        name, pod = workload["metadata"]["name"], workload["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        talks_to_kubernetes = name in ("onair-api", "onair-operator")
        assert pod.get("automountServiceAccountToken", True) is talks_to_kubernetes, name
        for container in pod["containers"]:
            security = container["securityContext"]
            assert security["readOnlyRootFilesystem"], name
            assert security["capabilities"] == {"drop": ["ALL"]}, name
            assert not security["allowPrivilegeEscalation"], name
            assert container["resources"]["requests"], name
            assert container["readinessProbe"], name
            assert container["livenessProbe"], name


def test_services_and_budgets_select_the_pods_of_their_deployment() -> None:
    objects = render("-f", ROOT / "examples/values/high-availability.yaml")
    pods = [o["spec"]["template"]["metadata"]["labels"] for o in objects if o["kind"] in WORKLOADS]
    selectors = [o["spec"]["selector"] for o in objects if o["kind"] == "Service"]
    selectors += [o["spec"]["selector"]["matchLabels"] for o in objects if o["kind"] == "PodDisruptionBudget"]
    assert len(selectors) == 6
    for selector in selectors:
        assert sum(selector.items() <= labels.items() for labels in pods) == 1, selector


def template_of(name: str, *options: str) -> Object:
    pod: Object = named(render(*options), "Deployment", name)["spec"]["template"]
    return pod


def test_pods_roll_when_their_own_configuration_changes() -> None:
    assert template_of("onair-operator") != template_of("onair-operator", "--set", "broadcast.maxLosses=7")
    assert template_of("onair-api") != template_of("onair-api", "--set", "api.tokens.issuer=us")


def test_pods_stay_when_something_else_changes(tmp_path: Path) -> None:
    other = ["--set", "operator.logLevel=DEBUG", "--set", "images.encoder.tag=next"]
    for name in ("onair-api", "onair-redis", "onair-mediamtx", "onair-demo"):
        assert template_of(name) == template_of(name, *other), name


def test_the_name_of_the_release_is_in_the_labels() -> None:
    assert all(
        o["metadata"]["labels"]["app.kubernetes.io/instance"] == RELEASE
        for o in render()
        if o["kind"] != "CustomResourceDefinition"
    )


def test_encoder_pods_and_shows_live_in_the_show_namespace_alone() -> None:
    kinds = {o["kind"] for o in render() if o["metadata"].get("namespace") == SHOWS}
    assert kinds == {"Role", "RoleBinding", "NetworkPolicy"}
