"""What the chart renders of ingest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests.support.helm import NAMESPACE, ROOT, HelmError, named, render

from onair_crds.shapes import Document
from onair_ingest.process import SERVER_PROBE
from onair_ingest.settings import Settings


def container(pod: Document, name: str) -> Document:
    containers: list[Document] = pod["spec"]["containers"]
    (found,) = (each for each in containers if each["name"] == name)
    return found


def port_names(document: Document) -> list[str]:
    return [each["name"] for each in document["ports"]]


def test_each_region_has_an_ingest_of_its_own_that_the_operator_follows() -> None:
    objects = render("-f", ROOT / "dev/values.yaml", "--set", "ingest.replicas=2")
    for region in ("us-east-1", "eu-central-1"):
        pods = named(objects, "StatefulSet", f"onair-ingest-{region}")["spec"]
        assert pods["replicas"] == 2
        assert pods["template"]["spec"]["nodeSelector"] == {"topology.kubernetes.io/region": region}
    config = named(objects, "ConfigMap", "onair-operator")["data"]["config.yaml"]
    for name in ("us-east-1-0", "us-east-1-1", "eu-central-1-0", "eu-central-1-1"):
        assert f"http://onair-ingest-{name}.onair-ingest-gateways.onair-system.svc:8448" in config


def configured(objects: list[Document], program: str) -> Document:
    config = named(objects, "ConfigMap", f"onair-{program}")["data"]["config.yaml"]
    ingest: Document = yaml.safe_load(config)["ingest"]
    return ingest


@pytest.mark.parametrize(
    ("options", "services"),
    [
        ((), []),
        (("ingest.service.type=LoadBalancer",), ["onair-ingest"]),
        (("ingest.service.type=NodePort", "ingest.srt.baseUrl=srt://a:1"), ["onair-ingest"]),
        (("ingest.service.type=NodePort", "ingest.enabled=false"), []),
        (
            (
                "ingest.service.type=NodePort",
                "ingest.srt.baseUrl=srt://a:1",
                "ingest.rtmp.baseUrl=rtmp://a/live",
            ),
            [],
        ),
    ],
    ids=["within the cluster", "balancer", "one of two is given", "no ingest", "both are given"],
)
def test_addresses_are_looked_for_where_no_value_gives_them(
    options: tuple[str, ...], services: list[str]
) -> None:
    objects = render(*(word for option in options for word in ("--set", option)))
    assert [each["name"] for each in configured(objects, "operator")["services"]] == services
    assert configured(objects, "api")["found"] is bool(services)
    roles = (each for each in objects if each["kind"] == "Role")
    rights = [rule for each in roles if each["metadata"]["namespace"] == NAMESPACE for rule in each["rules"]]
    readable = [rule["resourceNames"] for rule in rights if rule["resources"] == ["services"]]
    assert readable == ([services] if services else [])


def test_each_region_has_a_service_of_its_own_by_value(tmp_path: Path) -> None:
    regions = [{"name": name, "latitude": 50, "longitude": 8} for name in ("eu", "us")]
    values = tmp_path / "values.json"
    service = {"type": "LoadBalancer", "perRegion": True}
    values.write_text(json.dumps({"regions": regions, "ingest": {"service": service}}))
    objects = render("-f", values)
    assert configured(objects, "operator")["services"] == [
        {"name": "onair-ingest", "region": ""},
        {"name": "onair-ingest-eu", "region": "eu"},
        {"name": "onair-ingest-us", "region": "us"},
    ]
    selector = named(objects, "Service", "onair-ingest-us")["spec"]["selector"]
    pods = named(objects, "StatefulSet", "onair-ingest-us")["spec"]["template"]["metadata"]["labels"]
    assert selector.items() <= pods.items()
    assert (
        not selector.items()
        <= named(objects, "StatefulSet", "onair-ingest-eu")["spec"]["template"]["metadata"]["labels"].items()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("ingest.service.perRegion=true",), "ingest.service.perRegion: needs regions"),
        (
            (
                "ingest.service.perRegion=true",
                "ingest.service.nodePorts.rtmp=30935",
                "regions[0].name=eu",
                "regions[0].latitude=1",
                "regions[0].longitude=1",
            ),
            "ingest.service.nodePorts: must be 0 with perRegion",
        ),
        (
            (
                "ingest.service.perRegion=true",
                "regions[0].name=gateways",
                "regions[0].latitude=1",
                "regions[0].longitude=1",
            ),
            "ingest.service.perRegion: a region cannot be named gateways",
        ),
        (("ingest.service.perProtocol=true",), "ingest.service.perProtocol: not with the type ClusterIP"),
        (
            (
                "ingest.service.type=LoadBalancer",
                "ingest.service.perProtocol=true",
                "ingest.service.perRegion=true",
                "regions[0].name=srt",
                "regions[0].latitude=1",
                "regions[0].longitude=1",
            ),
            "ingest.service.perProtocol: two Services would have the name onair-ingest-srt",
        ),
    ],
)
def test_services_of_regions_that_cannot_work_are_refused(options: tuple[str, ...], message: str) -> None:
    with pytest.raises(HelmError) as refused:
        render(*(word for option in options for word in ("--set", option)))
    assert message in str(refused.value)


EXISTING = {
    "existing": {
        "apiUrl": "http://media.example:9997",
        "rtmpUrl": "rtmp://media.example",
        "secret": {"name": "mediamtx"},
    },
    "rtmp": {"baseUrl": "rtmp://media.example/live"},
    "srt": {"baseUrl": "srt://media.example:8890"},
}


def of_ingest(objects: list[Document]) -> dict[str, Document]:
    """The Services that publishers come by, by name."""
    found = {o["metadata"]["name"]: o["spec"] for o in objects if o["kind"] == "Service"}
    return {name: spec for name, spec in found.items() if {"rtmp", "srt"} & set(port_names(spec))}


BALANCERS = ("--set", "ingest.service.type=LoadBalancer,ingest.service.perProtocol=true")


def test_a_balancer_of_one_protocol_has_a_service_of_its_own() -> None:
    objects = render(*BALANCERS, "--set", "ingest.rtmp.tlsSecret=tls,mediamtx.enabled=false")
    services = of_ingest(objects)
    assert {name: port_names(spec) for name, spec in services.items()} == {
        "onair-ingest": ["rtmp", "rtmps"],
        "onair-ingest-srt": ["srt"],
    }
    for spec in services.values():
        assert spec["type"] == "LoadBalancer"
        assert len({port["protocol"] for port in spec["ports"]}) == 1
    assert services["onair-ingest"]["selector"] == services["onair-ingest-srt"]["selector"]
    assert configured(objects, "operator")["services"] == [
        {"name": "onair-ingest", "region": ""},
        {"name": "onair-ingest-srt", "region": ""},
    ]
    (rights,) = (
        rule["resourceNames"]
        for o in objects
        if o["kind"] == "Role" and o["metadata"]["namespace"] == NAMESPACE
        for rule in o["rules"]
        if rule["resources"] == ["services"]
    )
    assert rights == ["onair-ingest", "onair-ingest-srt"]


@pytest.mark.parametrize(
    ("given", "found"),
    [("rtmp.baseUrl=rtmp://a/live", "onair-ingest-srt"), ("srt.baseUrl=srt://a:1", "onair-ingest")],
)
def test_no_service_is_looked_for_whose_protocol_has_an_address(given: str, found: str) -> None:
    objects = render(*BALANCERS, "--set", f"ingest.{given}")
    assert [each["name"] for each in configured(objects, "operator")["services"]] == [found]


def test_services_of_protocols_are_of_each_region(tmp_path: Path) -> None:
    regions = [{"name": name, "latitude": 50, "longitude": 8} for name in ("eu", "us")]
    values = tmp_path / "values.json"
    service = {"type": "NodePort", "perRegion": True, "perProtocol": True}
    values.write_text(
        json.dumps({"regions": regions, "ingest": {"service": service}, "mediamtx": {"enabled": False}})
    )
    objects = render("-f", values)
    services = of_ingest(objects)
    wanted = {each["name"]: each["region"] for each in configured(objects, "operator")["services"]}
    assert list(services) == list(wanted)
    assert wanted == {
        "onair-ingest": "",
        "onair-ingest-srt": "",
        "onair-ingest-eu": "eu",
        "onair-ingest-eu-srt": "eu",
        "onair-ingest-us": "us",
        "onair-ingest-us-srt": "us",
    }
    for name, region in wanted.items():
        assert port_names(services[name]) == (["srt"] if name.endswith("-srt") else ["rtmp"])
        selected = [
            o["metadata"]["name"]
            for o in objects
            if o["kind"] == "StatefulSet"
            and services[name]["selector"].items() <= o["spec"]["template"]["metadata"]["labels"].items()
        ]
        assert selected == ([f"onair-ingest-{region}"] if region else ["onair-ingest-eu", "onair-ingest-us"])


def test_an_existing_server_has_a_gateway_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = tmp_path / "values.json"
    values.write_text(json.dumps({"ingest": EXISTING}))
    objects = render("-f", ROOT / "dev/values.yaml", "-f", values)
    (sets,) = (each for each in objects if each["kind"] == "StatefulSet")
    pod = sets["spec"]["template"]["spec"]
    assert [each["name"] for each in pod["containers"]] == ["gateway"]
    assert port_names({"ports": pod["containers"][0]["ports"]}) == ["gateway", "http", "hook"]
    (mounted,) = (each["secret"] for each in pod["volumes"] if each["name"] == "server")
    assert (mounted["secretName"], mounted["items"]) == (
        "mediamtx",
        [{"key": "password", "path": "password"}],
    )
    services = [o["metadata"]["name"] for o in objects if o["kind"] == "Service" and "ingest" in str(o)]
    assert "onair-ingest" not in services
    assert "onair-ingest-hook" in services
    assert [each["name"] for each in configured(objects, "operator")["gateways"]] == ["onair-ingest-0"]
    config = tmp_path / "gateway.yaml"
    config.write_text(named(objects, "ConfigMap", "onair-ingest")["data"]["gateway.yaml"])
    monkeypatch.setenv("ONAIR_CONFIG", str(config))
    settings = Settings()
    assert settings.mediamtx.api_url == "http://media.example:9997"
    assert settings.mediamtx.password_file == Path("/run/onair/server/password")
    assert (settings.hook.host, settings.pulls.enabled) == (None, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"existing": {"apiUrl": "http://a:1"}}, "ingest.existing.rtmpUrl: must be given"),
        ({**EXISTING, "srt": {}}, "ingest.rtmp.baseUrl: must say where publishers reach"),
        ({**EXISTING, "replicas": 2}, "ingest.replicas: must be 1"),
        (
            {**EXISTING, "rtmp": {"baseUrl": "rtmp://a/live", "tlsSecret": "tls"}},
            "ingest.rtmp.tlsSecret: certificate and passphrase",
        ),
    ],
)
def test_an_existing_server_that_cannot_work_is_refused(
    change: Document, message: str, tmp_path: Path
) -> None:
    values = tmp_path / "values.json"
    values.write_text(json.dumps({"ingest": change}))
    with pytest.raises(HelmError) as refused:
        render("-f", values)
    assert message in str(refused.value)


def test_rtmps_is_served_where_there_is_a_certificate() -> None:
    without = named(render(), "StatefulSet", "onair-ingest")["spec"]["template"]
    assert port_names(container(without, "mediamtx")) == ["rtmp", "srt"]
    objects = render("--set", "ingest.rtmp.tlsSecret=ingest-tls")
    server = container(named(objects, "StatefulSet", "onair-ingest")["spec"]["template"], "mediamtx")
    assert port_names(server) == ["rtmp", "rtmps", "srt"]
    assert {"name": "MTX_RTMPENCRYPTION", "value": "optional"} in server["env"]
    service = named(objects, "Service", "onair-ingest")["spec"]
    assert [each["port"] for each in service["ports"]] == [1935, 1936, 8890]


def test_the_passphrase_of_srt_comes_from_a_secret() -> None:
    objects = render("--set", "ingest.srt.passphraseSecret.name=srt")
    pod = named(objects, "StatefulSet", "onair-ingest")["spec"]["template"]
    server, (settings,) = container(pod, "mediamtx"), pod["spec"]["initContainers"]
    assert "env" not in server
    volumes = {each["name"]: each for each in pod["spec"]["volumes"]}
    assert volumes["settings-secret"]["secret"]["items"] == [{"key": "passphrase", "path": "text"}]
    assert volumes["settings"]["emptyDir"]["medium"] == "Memory"
    assert settings["command"][3:] == [
        "/etc/onair/mediamtx.yml",
        *server["args"],
        "pathDefaults.srtPublishPassphrase=/run/onair/secret/text",
    ]
    mounts = {each["name"]: each for each in settings["volumeMounts"]}
    assert mounts["settings"]["mountPath"] == "/run/onair/settings"
    assert mounts["settings-secret"]["mountPath"] == "/run/onair/secret"


def test_a_server_that_hangs_is_known_by_its_gateway() -> None:
    pod = named(render(), "StatefulSet", "onair-ingest")["spec"]["template"]
    probe = container(pod, "mediamtx")["livenessProbe"]
    assert probe["httpGet"] == {"path": SERVER_PROBE, "port": 9090}
    assert probe["periodSeconds"] * probe["failureThreshold"] == 30, "a gateway has the time to restart"


def test_publishers_of_the_only_pod_stay_when_it_is_not_ready() -> None:
    def published(*values: str) -> bool:
        service = named(render(*values), "Service", "onair-ingest")["spec"]
        return bool(service.get("publishNotReadyAddresses"))

    assert published()
    assert not published("--set", "ingest.replicas=2")
    assert not published("-f", str(ROOT / "dev/values.yaml")), "another region's pod may be ready"


def test_without_ingest_nothing_of_it_is_there() -> None:
    objects = render("--set", "ingest.enabled=false")
    assert not [o for o in objects if "ingest" in o["metadata"]["name"]]
    operator = named(objects, "ConfigMap", "onair-operator")["data"]["config.yaml"]
    assert "gateways: []" in operator
    facade = named(objects, "ConfigMap", "onair-api")["data"]["config.yaml"]
    assert "hookPort: null" in facade


def test_the_gateway_loads_the_values_as_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = tmp_path / "values.json"
    inside = {"allowedRanges": ["10.20.0.0/16", "fd00::/8"], "allowedHosts": ["*.media.svc"]}
    values.write_text(json.dumps({"ingest": {"silentAfterSeconds": 2.5}, "inside": inside}))
    objects = render("-f", values)
    config = tmp_path / "gateway.yaml"
    config.write_text(named(objects, "ConfigMap", "onair-ingest")["data"]["gateway.yaml"])
    monkeypatch.setenv("ONAIR_CONFIG", str(config))
    settings = Settings()
    assert settings.silent_after_s == 2.5
    assert settings.hook.facade_url == "http://onair-api-ingest.onair-system.svc:8449"
    assert [str(each) for each in settings.inside.allowed_ranges] == ["10.20.0.0/16", "fd00::/8"]
    assert settings.inside.refused
    assert settings.inside.refusal("rtmp://a.media.svc/live/b") is None


def test_nothing_but_media_of_the_server_is_reachable() -> None:
    config = named(render(), "ConfigMap", "onair-ingest")["data"]["mediamtx.yml"]
    listening = [line.strip() for line in config.splitlines() if "Address: :" in line]
    assert listening == ["rtmpAddress: :1935", "rtmpsAddress: :1936", "srtAddress: :8890"]
