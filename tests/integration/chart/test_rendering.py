"""Compares the rendered chart with golden files; `ONAIR_UPDATE_GOLDEN=1` rewrites them.

`default.yaml` has all objects, the others are diffs against it.
"""

import difflib
import json
import os
import re
from collections.abc import Hashable
from pathlib import Path

import pytest
import yaml
from tests.support.helm import (
    CHART,
    NAMESPACE,
    RELEASE,
    ROOT,
    SHOWS,
    HelmError,
    helm,
    named,
    render,
    template,
    to_stable_text,
)

from onair_crds.resources.kinds import KINDS
from onair_crds.schema.definition_generator import custom_resource_definition
from onair_crds.shapes import Document

GOLDEN = Path(__file__).parent / "golden"
WORKLOADS = {"Deployment", "StatefulSet"}
CASES: dict[str, list[str | Path]] = {
    "default": [],
    "local": ["-f", ROOT / "dev/values.yaml"],
    "existing-services": ["-f", ROOT / "examples/values/existing-services.yaml"],
    "high-availability": ["-f", ROOT / "examples/values/high-availability.yaml"],
    "monitoring": ["-f", ROOT / "examples/values/monitoring.yaml"],
    "rtc": ["-f", ROOT / "examples/values/rtc.yaml"],
    "tenants": ["-f", ROOT / "examples/values/tenants.yaml"],
}


def golden_text(case: str) -> tuple[Path, str]:
    """Returns the path of a case's golden file and its expected content."""
    default, rendered = (
        to_stable_text(render("--set", "crds.enabled=false", *CASES[c])) for c in ("default", case)
    )
    if case == "default":
        return GOLDEN / "default.yaml", default
    change = difflib.unified_diff(default.splitlines(True), rendered.splitlines(True), "default", case, n=12)
    return GOLDEN / f"{case}.diff", "".join(change)


@pytest.mark.parametrize("case", CASES)
def test_the_rendered_chart_equals_the_golden_file(case: str) -> None:
    golden, expected = golden_text(case)
    if os.environ.get("ONAIR_UPDATE_GOLDEN"):
        golden.write_text(expected)
    assert expected == golden.read_text(), (
        f"{golden.name}: run with ONAIR_UPDATE_GOLDEN=1, and review the diff"
    )


@pytest.mark.parametrize("case", CASES)
def test_helm_lint_passes(case: str) -> None:
    helm("lint", "--strict", CHART, *CASES[case])


def test_every_crd_is_installed_and_kept_by_default() -> None:
    def annotations(*options: str) -> dict[str, Document]:
        definitions = [o for o in render(*options) if o["kind"] == "CustomResourceDefinition"]
        return {d["spec"]["names"]["kind"]: d["metadata"].get("annotations") or {} for d in definitions}

    kept = annotations()
    assert set(kept) == {"Collection", "Project", "Source", "Destination", "Layout"}
    assert all(each["helm.sh/resource-policy"] == "keep" for each in kept.values())
    assert not any(annotations("--set", "crds.keep=false").values())
    assert not annotations("--set", "crds.enabled=false")


def test_crds_are_installed_as_they_are_generated() -> None:
    """Helm reads a bare `y` as true, which took the upper edge from every layer."""
    rendered = {o["metadata"]["name"]: o["spec"] for o in render() if o["kind"] == "CustomResourceDefinition"}
    definitions = [custom_resource_definition(kind) for kind in KINDS]
    assert rendered == {each["metadata"]["name"]: each["spec"] for each in definitions}


@pytest.mark.parametrize("case", CASES)
def test_pods_run_with_least_privilege(case: str) -> None:
    for workload in (o for o in render(*CASES[case]) if o["kind"] in WORKLOADS):
        name, pod = workload["metadata"]["name"], workload["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        uses_kubernetes = name in ("onair-api", "onair-operator")
        assert pod.get("automountServiceAccountToken", True) is uses_kubernetes, name
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
    assert len(selectors) == 11
    for selector in selectors:
        assert sum(selector.items() <= labels.items() for labels in pods) == 1, selector


def pod_template(name: str, *options: str) -> Document:
    pod: Document = named(render(*options), "Deployment", name)["spec"]["template"]
    return pod


def test_pods_restart_when_their_own_configuration_changes() -> None:
    assert pod_template("onair-operator") != pod_template("onair-operator", "--set", "broadcast.maxLosses=7")
    assert pod_template("onair-api") != pod_template("onair-api", "--set", "api.tokens.issuer=us")


class OneValuePerKey(yaml.CSafeLoader):
    """Refuses a key that is written twice, of which one value would be lost, as strict clients do."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len(keys) != len(set(keys)):
            raise yaml.constructor.ConstructorError(None, None, f"twice: {keys}", node.start_mark)
        return super().construct_mapping(node, deep)


def test_a_chart_label_or_annotation_that_is_overridden_is_there_once() -> None:
    labels = ("app.kubernetes.io/part-of", "pod-security.kubernetes.io/enforce")
    pods = ("api", "operator", "ingest", "rooms", "mediamtx")
    values = {each: {"podAnnotations": {"checksum/config": "mine", "team": "live"}} for each in pods}
    values["showNamespace"] = {"labels": dict.fromkeys(labels, "mine")}
    options = [word for name, each in values.items() for word in ("--set-json", f"{name}={json.dumps(each)}")]
    objects = [o for o in yaml.load_all(template(NAMESPACE, tuple(options)), OneValuePerKey) if o]
    overridden = named(objects, "Namespace", SHOWS)["metadata"]["labels"]
    assert {each: overridden[each] for each in labels} == dict.fromkeys(labels, "mine")
    assert overridden["app.kubernetes.io/instance"] == RELEASE
    default = {(o["kind"], o["metadata"]["name"]): o for o in render() if o["kind"] in WORKLOADS}
    annotated = 0
    for key, was in default.items():
        before = was["spec"]["template"]["metadata"].get("annotations", {})
        now = named(objects, *key)["spec"]["template"]["metadata"].get("annotations", {})
        annotated += now == {**before, "team": "live"}
    assert annotated == len(pods)


def test_pods_do_not_restart_when_another_configuration_changes() -> None:
    other = ["--set", "operator.logLevel=DEBUG", "--set", "images.encoder.tag=next"]
    for name in ("onair-api", "onair-redis", "onair-mediamtx", "onair-demo"):
        assert pod_template(name) == pod_template(name, *other), name


def test_an_image_with_a_digest_is_run_by_it() -> None:
    digest = f"sha256:{'0123456789abcdef' * 4}"
    objects = render("--set", f"images.api.digest={digest},images.encoder.digest={digest}")
    (container,) = named(objects, "Deployment", "onair-api")["spec"]["template"]["spec"]["containers"]
    assert container["image"].startswith("onair/api:")
    assert container["image"].endswith(f"@{digest}")
    assert f"@{digest}" in named(objects, "ConfigMap", "onair-operator")["data"]["config.yaml"]
    with pytest.raises(HelmError, match="digest"):
        render("--set", "images.api.digest=0123")


def images(objects: list[Document]) -> set[str]:
    """Of all containers, and of the shows' pods."""
    text = to_stable_text(objects)
    return set(re.findall(r"""\bimage: ["']?([^\s"']+)""", text))


def test_an_image_of_others_is_pulled_by_its_digest() -> None:
    of_others = {each for each in images(render()) if not each.startswith("onair/")}
    assert of_others
    assert {each for each in of_others if not re.search(r":[^@]+@sha256:[0-9a-f]{64}$", each)} == set()


def test_another_tag_is_without_the_digest_of_the_default() -> None:
    digest = f"sha256:{'0123456789abcdef' * 4}"
    assert "redis:7.2" in images(render("--set-string", "images.redis.tag=7.2"))
    (default,) = {each for each in images(render()) if each.startswith("redis:")}
    tag, _, _ = default.partition("@")
    assert f"{tag}@{digest}" in images(render("--set", f"images.redis.digest={digest}"))
    assert f"redis:7.2@{digest}" in images(render("--set-string", f"images.redis.tag=7.2@{digest}"))
    with pytest.raises(HelmError, match="tag"):
        render("--set", "images.redis.tag=7.2@sha256:0123")


def test_the_password_of_redis_is_in_files_alone() -> None:
    for name, file in (("onair-redis", "redis.conf"), ("onair-api", "password")):
        pod = pod_template(name)["spec"]
        (volume,) = [each for each in pod["volumes"] if each["name"] == "redis"]
        assert volume["secret"]["secretName"] == "onair-redis"
        assert volume["secret"]["items"] == [{"key": file, "path": file}]
        assert not [v for each in pod["containers"] for v in each.get("env", []) if "REDIS" in v["name"]]
    (server,) = pod_template("onair-redis")["spec"]["containers"]
    assert server["command"][4:6] == ["redis-server", "/run/onair/redis/redis.conf"]
    open_still = pod_template("onair-redis", "--set", "redis.requirePassword=false")["spec"]
    assert [each["name"] for each in open_still["volumes"]] == ["tmp"]
    offered = pod_template("onair-api", "--set", "redis.requirePassword=false")["spec"]
    assert "redis" in [each["name"] for each in offered["volumes"]]


def test_the_built_in_redis_speaks_tls_alone_with_a_certificate() -> None:
    objects = render("--set", "redis.tls.secret=redis-tls")
    server = named(objects, "Deployment", "onair-redis")["spec"]["template"]["spec"]
    (container,) = server["containers"]
    assert " ".join(container["command"]).endswith(
        "--port 0 --tls-port 6379 --tls-auth-clients no --tls-ca-cert-file /etc/onair-redis-tls/ca.crt "
        "--tls-cert-file /etc/onair-redis-tls/tls.crt --tls-key-file /etc/onair-redis-tls/tls.key"
    )
    client = named(objects, "Deployment", "onair-api")["spec"]["template"]["spec"]
    (volume,) = [each for each in client["volumes"] if each["name"] == "redis-tls"]
    assert volume["secret"]["items"] == [{"key": "ca.crt", "path": "ca.crt"}], "no private key"
    config = named(objects, "ConfigMap", "onair-api")["data"]["config.yaml"]
    assert "rediss://onair-redis.onair-system.svc:6379/0" in config
    assert 'caFile: "/etc/onair-redis-tls/ca.crt"' in config


def test_the_keys_of_rooms_are_in_a_file_that_others_cannot_read() -> None:
    objects = render()
    pod = named(objects, "Deployment", "onair-livekit")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert all("valueFrom" not in each or "fieldRef" in each["valueFrom"] for each in container["env"])
    config = yaml.safe_load(named(objects, "ConfigMap", "onair-livekit")["data"]["livekit.yaml"])
    (mounted,) = [each for each in container["volumeMounts"] if each["name"] == "keys"]
    (volume,) = [each["secret"] for each in pod["volumes"] if each["name"] == "keys"]
    (item,) = volume["items"]
    assert f"{mounted['mountPath']}/{item['path']}" == config["key_file"]
    assert volume["defaultMode"] & 0o007 == 0


def test_native_grpc_has_a_port_where_it_is_wanted() -> None:
    def ports(*options: str) -> tuple[bool, ...]:
        objects = render(*options)
        config = yaml.safe_load(named(objects, "ConfigMap", "onair-api")["data"]["config.yaml"])
        (container,) = named(objects, "Deployment", "onair-api")["spec"]["template"]["spec"]["containers"]
        service = named(objects, "Service", "onair-api")["spec"]["ports"]
        ingress = named(objects, "NetworkPolicy", "onair-api-ingest")["spec"]["ingress"]
        return (
            config["listen"].get("grpcPort") == 8082,
            {"name": "grpc", "containerPort": 8082} in container["ports"],
            8082 in [each["port"] for each in service],
            {"ports": [{"port": 8082, "protocol": "TCP"}]} in ingress,
        )

    assert not any(ports())
    assert all(ports("--set", "api.grpc.enabled=true"))


def test_every_object_has_the_release_name_as_label() -> None:
    assert all(
        o["metadata"]["labels"]["app.kubernetes.io/instance"] == RELEASE
        for o in render()
        if o["kind"] != "CustomResourceDefinition"
    )


def test_only_rbac_and_network_policies_are_in_the_show_namespace() -> None:
    kinds = {o["kind"] for o in render() if o["metadata"].get("namespace") == SHOWS}
    assert kinds == {"Role", "RoleBinding", "NetworkPolicy"}


@pytest.mark.parametrize("name", ["onair-operator", "onair-api"])
def test_what_serves_shows_survives_the_loss_of_a_node_by_default(name: str) -> None:
    objects = render()
    deployment = named(objects, "Deployment", name)
    assert deployment["spec"]["replicas"] == 2
    assert named(objects, "PodDisruptionBudget", name)["spec"]["maxUnavailable"] == 1
    pod = deployment["spec"]["template"]["spec"]
    spread = {each["topologyKey"]: each for each in pod["topologySpreadConstraints"]}
    assert set(spread) == {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}
    for each in spread.values():
        assert each["labelSelector"]["matchLabels"].items() <= pod_labels(deployment).items()
    assert {each["key"]: each["tolerationSeconds"] for each in pod["tolerations"]} == {
        "node.kubernetes.io/not-ready": 10,
        "node.kubernetes.io/unreachable": 10,
    }


def test_an_autoscaler_may_decide_how_many_serve_the_http_interface() -> None:
    objects = render("--set", "api.replicas=null")
    assert "replicas" not in named(objects, "Deployment", "onair-api")["spec"]
    assert named(objects, "PodDisruptionBudget", "onair-api")["spec"]["maxUnavailable"] == 1
    none = render("--set", "api.replicas=0")
    assert named(none, "Deployment", "onair-api")["spec"]["replicas"] == 0
    budgets = {o["metadata"]["name"] for o in none if o["kind"] == "PodDisruptionBudget"}
    assert "onair-api" not in budgets


def pod_labels(deployment: Document) -> Document:
    labels: Document = deployment["spec"]["template"]["metadata"]["labels"]
    return labels


def test_tolerations_of_an_installation_come_beside_those_for_a_nodes_failure() -> None:
    pod = pod_template("onair-operator", "--set", "operator.tolerations[0].key=infra")["spec"]
    assert [each["key"] for each in pod["tolerations"]][2:] == ["infra"]


def test_a_rollout_of_the_http_interface_refuses_no_connection() -> None:
    pod = pod_template("onair-api")["spec"]
    (container,) = pod["containers"]
    assert container["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "5"]
    assert pod["terminationGracePeriodSeconds"] == 25
    at_once = pod_template("onair-api", "--set", "api.shutdownDelaySeconds=0")["spec"]["containers"][0]
    assert "lifecycle" not in at_once
    deployment = named(render(), "Deployment", "onair-api")
    assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def test_the_local_cluster_runs_one_of_each() -> None:
    local = render("-f", ROOT / "dev/values.yaml")
    assert {o["spec"]["replicas"] for o in local if o["kind"] == "Deployment"} == {1}
    assert not [o for o in local if o["kind"] == "PodDisruptionBudget"]
