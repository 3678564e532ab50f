"""Tests that invalid values are rejected with their path, and that valid ones reach the programs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel
from tests.support.helm import ROOT, HelmError, named, render

from onair_api.settings import Settings
from onair_crds.contract.pod import COMPOSITOR_URL
from onair_crds.runtime.settings import ProgramSettings
from onair_crds.shapes import Document
from onair_ingest.settings import Settings as IngestSettings
from onair_operator.settings import OperatorSettings

FIXED = {
    # Settings that the chart leaves at their defaults, since its own objects depend on those
    "leaderElection.leaseName",
    "healthPort",
    "listen.host",
    "listen.port",
    "listen.backlog",
    "listen.shutdownGraceS",
    "cache",
    "limits.requestMetadataBytes",
    "limits.jsonDepth",
    "cors.maxAgeS",
    "tokens.cacheSize",
    "tokens.sweepIntervalS",
}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("operator.replicas=-1", "at '/operator/replicas': minimum: got -1, want 0"),
        ("operator.replicas=two", "at '/operator/replicas': got string, want integer"),
        ("operater.replicas=2", "additional properties 'operater' not allowed"),
        ("api.replicas=51", "at '/api/replicas': maximum: got 51, want 50"),
        ("operator.replicas=null", "at '/operator': missing property 'replicas'"),
        ("api.replica=2", "at '/api': additional properties 'replica' not allowed"),
        ("api.service.type=Ingress", "at '/api/service/type': value must be one of 'ClusterIP', 'NodePort'"),
        ("api.service.nodePort=70000", "at '/api/service/nodePort': maximum: got 70,000, want 65,535"),
        (
            "api.publicUrl=onair.example.org",
            "at '/api/publicUrl': 'onair.example.org' does not match",
        ),
        ("api.resources.request.cpu=1", "at '/api/resources': additional properties 'request' not allowed"),
        ("api.resources.requests.cpu=much", "at '/api/resources/requests/cpu': 'much' does not match"),
        (
            "api.tokens.defaultDurationMs=10",
            "at '/api/tokens/defaultDurationMs': minimum: got 10",
        ),
        ("regions[0].name=eu", "at '/regions/0': missing properties 'latitude', 'longitude'"),
        ("rtc.providers[0].appId=a", "at '/rtc/providers/0': missing properties 'type', 'url', 'secret'"),
        (
            "redirectedHosts={https://a.example}",
            "at '/redirectedHosts/0': 'https://a.example' does not match",
        ),
        ("regions={eu-central-1}", "at '/regions/0': got string, want object"),
        ("showNamespace.name=My Shows", "at '/showNamespace/name': 'My Shows' does not match pattern"),
        ("images.api.repository=", "at '/images/api/repository': '' does not match pattern"),
        ("images.pullPolicy=Sometimes", "at '/images/pullPolicy': value must be one of 'Always'"),
        ("encoder.cost.complexityStep=0", "at '/encoder/cost/complexityStep': minimum: got 0, want 0.1"),
        ("encoder.tolerations[0].efect=x", "at '/encoder/tolerations/0': additional properties 'efect'"),
        ("encoder.cost=null", "at '/encoder': missing property 'cost'"),
        ("api.rateLimits.windowSeconds=0", "at '/api/rateLimits/windowSeconds': minimum: got 0, want 1"),
        ("ingest.rtmp.baseUrl=ingest.example", "at '/ingest/rtmp/baseUrl': 'ingest.example' does not match"),
        ("ingest.srt.baseUrl=rtmp://a", "at '/ingest/srt/baseUrl': 'rtmp://a' does not match pattern"),
        (
            "inside.refusedRanges={9.9.9.9}",
            "at '/inside/refusedRanges/0': '9.9.9.9' does not match pattern",
        ),
        (
            "inside.allowedRanges={fd00::1}",
            "at '/inside/allowedRanges/0': 'fd00::1' does not match pattern",
        ),
        (
            "inside.allowedRanges={10.20.1.5/64}",
            "at '/inside/allowedRanges/0': '10.20.1.5/64' does not match pattern",
        ),
        (
            "inside.refusedRanges={10.0.0.256/8}",
            "at '/inside/refusedRanges/0': '10.0.0.256/8' does not match pattern",
        ),
        (
            "encoder.network.nameServers={foo}",
            "at '/encoder/network/nameServers/0': 'foo' does not match pattern",
        ),
        (
            "rooms.turn.internalRanges={10.0.0.1}",
            "at '/rooms/turn/internalRanges/0': '10.0.0.1' does not match",
        ),
        ("redis.url=localhost:6379", "at '/redis/url': 'localhost:6379' does not match pattern"),
        ("redis.enabled=false", "redis.url: must name an existing Redis, or redis.urlSecret a Secret"),
        ("redis.caSecret.name=ca", "redis.caSecret: is of an existing Redis"),
        (
            "redis.enabled=false,redis.url=redis://mine,redis.caSecret.name=ca",
            "redis.caSecret: needs a rediss:// URL",
        ),
        ("encoder.maxWidth=3842", "at '/encoder/maxWidth': maximum: got 3,842, want 3,840"),
        ("encoder.maxHeight=2162", "at '/encoder/maxHeight': maximum: got 2,162, want 2,160"),
        ("redis.url=redis://mine", "redis.url: conflicts with the built-in Redis"),
        ("mediamtx.service.nodePorts.srt=1", "at '/mediamtx/service/nodePorts': additional properties 'srt'"),
        ("keysNamespace.name=shows", "keysNamespace.name: must not be the namespace of shows"),
        ("showNamespace.name=onair-system", "showNamespace.name: must not be the release's own namespace"),
        (
            "operator.leaderElection.renewIntervalSeconds=7",
            "operator.leaderElection.renewIntervalSeconds: must be at most a third of leaseDurationSeconds",
        ),
    ],
)
def test_an_invalid_value_is_rejected_with_its_path(option: str, message: str) -> None:
    with pytest.raises(HelmError) as rejection:
        render("--set", option)
    assert message in str(rejection.value)


def test_regions_have_different_names() -> None:
    region = {"name": "eu", "latitude": 1, "longitude": 2}
    with pytest.raises(HelmError, match='regions: "eu" is there twice'):
        render("--set-json", f"regions={json.dumps([region, {**region, 'latitude': 3}])}")


def test_generated_files_are_fresh() -> None:
    check = [sys.executable, "-m", "onair_dev", "chart", "--check"]
    result = subprocess.run(check, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def config_file(objects: list[Document], name: str, folder: Path) -> Path:
    """Writes the configuration of a ConfigMap to a file."""
    path = folder / f"{name}.yaml"
    path.write_text(named(objects, "ConfigMap", name)["data"]["config.yaml"])
    return path


def setting_paths(model: type[BaseModel], path: str = "") -> set[str]:
    """Returns the path of every setting, as in YAML, except those in FIXED."""
    found: set[str] = set()
    for name, field in model.model_fields.items():
        alias = f"{path}{field.alias or name}"
        inner = field.annotation
        if alias in FIXED:
            continue
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found |= setting_paths(inner, f"{alias}.")
        else:
            found.add(alias)
    return found


def document_paths(document: Document, known: set[str], path: str = "") -> set[str]:
    """Returns the path of every value in a document, down to the known settings."""
    found: set[str] = set()
    for key, value in document.items():
        whole = f"{path}{key}"
        nested = isinstance(value, dict) and whole not in known
        found |= document_paths(value, known, f"{whole}.") if nested else {whole}
    return found


@pytest.mark.parametrize(
    ("name", "settings"), [("onair-operator", OperatorSettings), ("onair-api", Settings)]
)
def test_the_chart_writes_every_setting_and_no_other(
    name: str, settings: type[BaseModel], tmp_path: Path
) -> None:
    objects = render("--set", "rendererUrl=https://pages.example.org/")
    document = yaml.safe_load(config_file(objects, name, tmp_path).read_text())
    known = setting_paths(settings)
    assert document_paths(document, known) == known


EXAMPLES = sorted((ROOT / "examples/values").glob("*.yaml"))


@pytest.mark.parametrize("example", EXAMPLES, ids=[each.stem for each in EXAMPLES])
@pytest.mark.parametrize(
    ("name", "key", "settings"),
    [
        ("onair-operator", "config.yaml", OperatorSettings),
        ("onair-api", "config.yaml", Settings),
        ("onair-ingest", "gateway.yaml", IngestSettings),
    ],
)
def test_programs_start_with_the_values_of_each_example(
    name: str,
    key: str,
    settings: type[ProgramSettings],
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config, redis = tmp_path / "config.yaml", tmp_path / "url"
    redis.write_text("redis://of-a-secret:6379")
    text = named(render("-f", example), "ConfigMap", name)["data"][key]
    config.write_text(text.replace("/run/onair/redis/url", str(redis)))
    monkeypatch.setenv("ONAIR_CONFIG", str(config))
    settings()
    if settings is not OperatorSettings:  # whose file has parts of the values, which hold more
        assert settings.unknown_names() == []


def test_the_operator_loads_the_values_as_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "showNamespace": {"name": "12"},
        "regions": [{"name": "eu-west-1", "latitude": 53, "longitude": -6.3}],
        "images": {"encoder": {"repository": "r.example/encoder", "tag": "1e3"}, "pullSecrets": ["one"]},
        "encoder": {
            "tolerations": [{"key": "live", "operator": "Exists"}],
            "labels": {"team": "live"},
            "podAnnotations": {"linkerd.io/inject": "disabled"},
            "cost": {"complexityStep": 2},
        },
        "broadcast": {"retentionSeconds": 10_000_000_000, "stopGraceSeconds": 0.5},
        "rtc": {
            "providers": [
                {
                    "appId": "1",
                    "type": "livekit",
                    "url": "wss://rooms.example",
                    "secret": {"name": "keys"},
                    "services": ["12"],
                    "channelPrefix": "{serviceId}:",
                }
            ]
        },
        "operator": {"logLevel": "DEBUG", "leaderElection": {"leaseDurationSeconds": 30}},
        "demo": {"enabled": False},
    }
    values_file = tmp_path / "values.yaml"
    values_file.write_text(json.dumps(values))
    monkeypatch.setenv(
        "ONAIR_CONFIG", str(config_file(render("-f", values_file), "onair-operator", tmp_path))
    )
    settings = OperatorSettings()
    assert settings.show_namespace == "12"
    assert settings.renderer_url == COMPOSITOR_URL
    assert [region.model_dump() for region in settings.regions] == values["regions"]
    assert settings.encoder.image == "r.example/encoder:1e3"
    assert settings.encoder.image_pull_secrets == ["one"]
    assert settings.encoder.priority_class_name == "onair-encoder"
    assert settings.encoder.tolerations == [{"key": "live", "operator": "Exists"}]
    assert settings.encoder.labels == {"team": "live"}
    assert settings.encoder.pod_annotations == {"linkerd.io/inject": "disabled"}
    assert settings.encoder.cost.complexity_step == 2
    assert settings.broadcast.retention_s == 10_000_000_000
    assert [provider.model_dump(mode="json") for provider in settings.rtc.providers] == [
        {
            "app_id": "1",
            "type": "livekit",
            "url": "wss://rooms.example",
            "credentials": "/etc/onair-rtc/0",
            "services": ["12"],
            "channel_prefix": "{serviceId}:",
        }
    ]
    assert settings.broadcast.stop_grace_s == 0.5
    assert settings.leader_election.lease_duration_s == 30
    assert settings.log_level == "DEBUG"


def test_the_facade_loads_the_values_as_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["api.cors.origins={https://one.example,https://two.example}", "api.limits.bodyBytes=2000000"]
    objects = render(*(part for option in options for part in ("--set", option)), namespace="live")
    monkeypatch.setenv("ONAIR_CONFIG", str(config_file(objects, "onair-api", tmp_path)))
    settings = Settings()
    assert settings.release_namespace == "live"
    assert settings.show_namespace == "shows"
    assert settings.redis.url == "redis://onair-redis.live.svc:6379/0"
    assert settings.cors.origins == ["https://one.example", "https://two.example"]
    assert settings.limits.body_bytes == 2_000_000


def test_a_redis_url_in_a_secret_is_not_copied_into_the_configmap() -> None:
    objects = render("--set", "redis.enabled=false,redis.urlSecret.name=mine,redis.keyPrefix=second")
    pod = named(objects, "Deployment", "onair-api")["spec"]["template"]["spec"]
    configured = yaml.safe_load(named(objects, "ConfigMap", "onair-api")["data"]["config.yaml"])["redis"]
    (mount,) = [each for each in pod["containers"][0]["volumeMounts"] if each["name"] == "redis"]
    (volume,) = [each for each in pod["volumes"] if each["name"] == "redis"]
    (item,) = volume["secret"]["items"]
    assert (volume["secret"]["secretName"], item["key"]) == ("mine", "url")
    file = f"{mount['mountPath']}/{item['path']}"
    assert configured == {"url": None, "urlFile": file, "keyPrefix": "second"}


@pytest.mark.parametrize("address", ["redis.url=rediss://mine", "redis.urlSecret.name=mine"])
def test_an_existing_redis_is_verified_with_the_certificate_of_its_own_authority(address: str) -> None:
    options = f"redis.enabled=false,{address},redis.caSecret.name=authority,redis.caSecret.key=pem"
    objects = render("--set", options)
    pod = named(objects, "Deployment", "onair-api")["spec"]["template"]["spec"]
    configured = yaml.safe_load(named(objects, "ConfigMap", "onair-api")["data"]["config.yaml"])["redis"]
    (volume,) = [each for each in pod["volumes"] if each.get("secret", {}).get("secretName") == "authority"]
    (mount,) = [each for each in pod["containers"][0]["volumeMounts"] if each["name"] == volume["name"]]
    (item,) = volume["secret"]["items"]
    assert item["key"] == "pem"
    assert configured["caFile"] == f"{mount['mountPath']}/{item['path']}"
    assert "passwordFile" not in configured


def test_no_secret_is_in_an_environment() -> None:
    """Whoever can inspect a process or its pod reads that; hashes are, of what MediaMTX takes only so."""
    options = (
        *("redis.enabled=false", "redis.urlSecret.name=url", "ingest.srt.passphraseSecret.name=srt"),
        *("ingest.rtmp.tlsSecret=tls", "rooms.redis.address=r:6379", "rooms.redis.passwordSecret.name=rooms"),
        *("mediamtx.enabled=true", "rtc.providers[0].appId=a", "rtc.providers[0].type=livekit"),
        *("rtc.providers[0].url=wss://a", "rtc.providers[0].secret.name=rtc", "rooms.turn.enabled=true"),
        *("rooms.turn.domain=turn.example.org", "rooms.turn.tlsSecret=turn"),
    )
    objects = render(*(word for option in options for word in ("--set", option)))
    templates = [each["spec"]["template"]["spec"] for each in objects if "template" in each.get("spec", {})]
    mounted = {
        volume["secret"]["secretName"] for pod in templates for volume in pod["volumes"] if "secret" in volume
    }
    assert {"url", "srt", "tls", "rooms", "rtc", "turn"} <= mounted
    containers = [each for pod in templates for each in (*pod["containers"], *pod.get("initContainers", []))]
    assert not any("envFrom" in each for each in containers)
    variables = [variable for each in containers for variable in each.get("env", [])]
    references = [
        each["valueFrom"]["secretKeyRef"]
        for each in variables
        if "valueFrom" in each and "secretKeyRef" in each["valueFrom"]
    ]
    assert {(each["name"], each["key"]) for each in references} == {
        ("onair-mediamtx", hashed) for hashed in ("apiHash", "publishHash", "readHash")
    }
