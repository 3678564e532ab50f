"""What the chart renders of hosted rooms."""

from __future__ import annotations

import pytest
import yaml
from tests.support.helm import ROOT, HelmError, named, render

from onair_crds.contract.page_network import may_be_of_rooms
from onair_crds.shapes import Document

EXISTING = (
    *("--set", "rooms.enabled=false", "--set", "rooms.url=https://rooms.example.org"),
    *("--set", "rooms.secret.name=livekit", "--set", "rooms.secret.apiKey=key"),
)

TURN = ("rooms.turn.enabled=true", "rooms.turn.domain=turn.example.org", "rooms.turn.tlsSecret=turn-tls")


def with_values(*options: str) -> list[Document]:
    return render(*(word for option in options for word in ("--set", option)))


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


@pytest.mark.parametrize("name", ["udpPort", "tcpPort"])
def test_ports_of_media_are_refused_where_the_operator_refuses_them(name: str) -> None:
    tried = (443, 6443, 7880, 7881, 7882, 8472, 9999, 10_000, 10_247, 10_248, 10_260, 10_261)
    for port in (*tried, 27_017, 30_881, 51_820, 51_821, 65_535):
        if may_be_of_rooms(port):
            assert with_values(f"rooms.media.{name}={port}")
        else:
            with pytest.raises(HelmError, match=f"rooms.media.{name}: must not be {port}: pages reach"):
                with_values(f"rooms.media.{name}={port}")
    assert with_values("rooms.enabled=false", f"rooms.media.{name}=443")


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


def server_of(objects: list[Document]) -> tuple[Document, Document]:
    """The pod of the room server, and the settings that it loads."""
    pod = named(objects, "Deployment", "onair-livekit")["spec"]["template"]["spec"]
    settings = named(objects, "ConfigMap", "onair-livekit")["data"]["livekit.yaml"]
    return pod, yaml.safe_load(settings)


def test_turn_over_tls_is_reached_by_a_load_balancer_with_the_certificate_of_its_name() -> None:
    objects = with_values(*TURN, "rooms.turn.annotations.a=b")
    pod, settings = server_of(objects)
    assert settings["turn"] == {
        "enabled": True,
        "domain": "turn.example.org",
        "tls_port": 5349,
        "udp_port": 0,
        "external_tls": False,
        "cert_file": "/etc/onair-turn/tls.crt",
        "key_file": "/etc/onair-turn/tls.key",
    }
    assert {"name": "turn", "secret": {"secretName": "turn-tls", "defaultMode": 0o440}} in pod["volumes"]
    (mount,) = (each for each in pod["containers"][0]["volumeMounts"] if each["name"] == "turn")
    assert mount["mountPath"] == "/etc/onair-turn"
    service = named(objects, "Service", "onair-livekit-turn")
    assert service["spec"]["type"] == "LoadBalancer"
    assert service["metadata"]["annotations"] == {"a": "b"}
    assert service["spec"]["ports"] == [{"name": "turn-tls", "port": 443, "targetPort": "turn-tls"}]
    assert {"name": "turn-tls", "containerPort": 5349} in pod["containers"][0]["ports"]
    allowed = named(objects, "NetworkPolicy", "onair-livekit")["spec"]["ingress"]
    assert {"ports": [{"port": 5349, "protocol": "TCP"}]} in allowed


@pytest.mark.parametrize("exposure", ["Cluster", "NodePort", "HostNetwork"])
def test_turn_over_tls_is_at_the_port_that_participants_are_told(exposure: str) -> None:
    objects = with_values(*TURN, f"rooms.media.exposure={exposure}", "rooms.turn.serviceType=ClusterIP")
    service = named(objects, "Service", "onair-livekit-turn")["spec"]
    assert (service["type"], [each["port"] for each in service["ports"]]) == ("ClusterIP", [443])


def test_turn_over_udp_is_at_a_port_of_the_node_where_media_is() -> None:
    objects = with_values(*TURN, "rooms.turn.udpPort=30884", "rooms.media.exposure=NodePort")
    assert server_of(objects)[1]["turn"]["udp_port"] == 30884
    served = named(objects, "Service", "onair-livekit-media")["spec"]["ports"]
    assert [each["nodePort"] for each in served] == [30882, 30881, 30884]


def test_turn_over_udp_alone_has_no_service_of_its_own() -> None:
    objects = with_values(*TURN, "rooms.turn.tlsPort=0", "rooms.media.exposure=HostNetwork")
    assert not [o for o in objects if o["metadata"]["name"] == "onair-livekit-turn"]


def test_a_certificate_may_be_at_the_load_balancer() -> None:
    external = (
        "rooms.turn.enabled=true",
        "rooms.turn.domain=turn.example.org",
        "rooms.turn.externalTls=true",
    )
    pod, settings = server_of(with_values(*external))
    assert settings["turn"]["external_tls"] is True
    assert "cert_file" not in settings["turn"]
    assert [each["name"] for each in pod["volumes"]] == ["config", "keys"]


def test_nothing_is_relayed_to_internal_ranges() -> None:
    objects = with_values(*TURN, "rooms.turn.internalRanges={10.244.0.0/16,fd00::/8}")
    policy = named(objects, "NetworkPolicy", "onair-livekit")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    names, media = policy["egress"]
    assert names == {"ports": [{"protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]}
    assert media["ports"] == [{"protocol": "UDP"}]
    assert [each["ipBlock"] for each in media["to"][1:]] == [
        {"cidr": "0.0.0.0/0", "except": ["10.244.0.0/16"]},
        {"cidr": "::/0", "except": ["fd00::/8"]},
    ]


def test_several_servers_are_on_nodes_of_their_own_and_share_a_redis() -> None:
    objects = with_values(
        "rooms.replicas=2",
        "rooms.media.exposure=HostNetwork",
        "rooms.redis.address=redis.example:6379",
        "rooms.redis.passwordSecret.name=redis",
    )
    pod, settings = server_of(objects)
    assert pod["hostNetwork"] is True
    assert settings["rtc"]["ips"] == {"includes": ["$(HOST_CIDR)"]}
    assert settings["redis"] == {"address": "redis.example:6379"}
    (completed,) = pod["initContainers"]
    assert completed["command"][3:] == [
        "/etc/onair/livekit.yaml",
        pod["containers"][0]["args"][1],
        "redis.password=/run/onair/secret/text",
    ]
    (host_ip,) = completed["env"]
    assert host_ip == {"name": "HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}}
    volumes = {each["name"]: each for each in pod["volumes"]}
    assert volumes["settings-secret"]["secret"]["secretName"] == "redis"
    assert volumes["settings-secret"]["secret"]["items"] == [{"key": "password", "path": "text"}]
    assert volumes["settings"]["emptyDir"]["medium"] == "Memory"
    strategy = named(objects, "Deployment", "onair-livekit")["spec"]["strategy"]
    assert strategy["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert named(objects, "PodDisruptionBudget", "onair-livekit")["spec"]["maxUnavailable"] == 1


def test_a_server_that_was_on_the_hosts_network_leaves_it() -> None:
    pod, settings = server_of(with_values("rooms.media.exposure=NodePort"))
    assert (pod["hostNetwork"], pod["dnsPolicy"]) == (False, "ClusterFirst")
    assert "ips" not in settings["rtc"]
    assert "initContainers" not in pod


def test_without_a_server_there_are_no_rooms() -> None:
    objects = render("--set", "rooms.enabled=false")
    assert configured(objects, "api")["url"] == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("rooms.replicas=2",), "rooms.replicas: more than one needs rooms.media.exposure HostNetwork"),
        (("rooms.replicas=2", "rooms.media.exposure=HostNetwork"), "rooms.redis.address: must name a Redis"),
        (("rooms.turn.enabled=true",), "rooms.turn.domain: must be the name"),
        (("rooms.turn.enabled=true", "rooms.turn.domain=t.example"), "rooms.turn.tlsSecret: must name"),
        (
            ("rooms.turn.enabled=true", "rooms.turn.domain=t.example", "rooms.turn.tlsPort=0"),
            "rooms.turn.tlsPort: must be a port",
        ),
        (
            (*TURN, "rooms.media.exposure=HostNetwork", "rooms.turn.internalRanges={10.0.0.0/8}"),
            "rooms.turn.internalRanges: network policies do not bind",
        ),
        ((*TURN, "rooms.turn.externalTls=true"), "rooms.turn.tlsSecret: conflicts with"),
        (("rooms.url=http://a",), "rooms.url: conflicts with the built-in livekit-server"),
        (("rooms.enabled=false", "rooms.url=http://a"), "rooms.secret.name: must name the Secret"),
    ],
)
def test_what_cannot_work_is_refused(options: tuple[str, ...], message: str) -> None:
    with pytest.raises(HelmError) as refused:
        with_values(*options)
    assert message in str(refused.value)
