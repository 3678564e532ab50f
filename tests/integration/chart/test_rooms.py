"""What the chart renders of hosted rooms."""

from __future__ import annotations

import pytest
import yaml
from tests.support.helm import ROOT, HelmError, named, render

from onair_crds.shapes import Document

EXISTING = (
    *("--set", "rooms.enabled=false", "--set", "rooms.url=https://rooms.example.org"),
    *("--set", "rooms.secret.name=livekit", "--set", "rooms.secret.apiKey=key"),
)


def configured(objects: list[Document], program: str) -> Document:
    config = named(objects, "ConfigMap", f"onair-{program}")["data"]["config.yaml"]
    rooms: Document = yaml.safe_load(config)["rooms"]
    return rooms


def test_participants_of_the_local_cluster_get_the_address_of_a_node() -> None:
    objects = render("-f", ROOT / "dev/values.yaml")
    (container,) = named(objects, "Deployment", "onair-livekit")["spec"]["template"]["spec"]["containers"]
    sources = {each["name"]: each["valueFrom"] for each in container["env"]}
    assert sources["NODE_IP"] == {"fieldRef": {"fieldPath": "status.hostIP"}}
    server = yaml.safe_load(named(objects, "ConfigMap", "onair-livekit")["data"]["livekit.yaml"])
    ports = named(objects, "Service", "onair-livekit-media")["spec"]["ports"]
    assert [each["nodePort"] for each in ports] == [server["rtc"]["udp_port"], server["rtc"]["tcp_port"]]
    assert server["room"]["auto_create"] is False


def test_signalling_is_reached_by_our_own_programs_alone() -> None:
    ingress = named(render(), "NetworkPolicy", "onair-livekit")["spec"]["ingress"]
    assert [each.get("from") is None for each in ingress] == [True, False]
    assert [port["port"] for port in ingress[1]["ports"]] == [7880]


def test_an_existing_server_takes_the_place_of_the_built_in_one() -> None:
    objects = render(*EXISTING)
    assert not [o for o in objects if "livekit" in o["metadata"]["name"]]
    for program in ("api", "operator"):
        rooms = configured(objects, program)
        assert rooms["url"] == "https://rooms.example.org"
        assert rooms["secret"] == {"name": "livekit", "apiKey": "key", "apiSecret": "apiSecret"}
    rights = [
        o["rules"] for o in objects if o["kind"] == "Role" and o["metadata"]["name"] == "onair-operator"
    ]
    assert "'livekit'" in str(rights)


def test_without_a_server_there_are_no_rooms() -> None:
    objects = render("--set", "rooms.enabled=false")
    assert configured(objects, "api")["url"] == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("rooms.replicas=2",), "rooms.replicas: more than one needs rooms.media.exposure HostNetwork"),
        (("rooms.replicas=2", "rooms.media.exposure=HostNetwork"), "rooms.config.redis: must name a Redis"),
        (("rooms.url=http://a",), "rooms.url: conflicts with the built-in livekit-server"),
        (("rooms.enabled=false", "rooms.url=http://a"), "rooms.secret.name: must name the Secret"),
    ],
)
def test_what_cannot_work_is_refused(options: tuple[str, ...], message: str) -> None:
    with pytest.raises(HelmError) as refused:
        render(*(word for option in options for word in ("--set", option)))
    assert message in str(refused.value)
