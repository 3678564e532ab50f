"""Media through the TURN server that the chart configures, where a network lets nothing else out."""

from __future__ import annotations

import base64
import hashlib
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from tests.support.certificate_authority import CertificateAuthority
from tests.support.control_plane import free_port
from tests.support.facade import StartFacade, StoredResources, User
from tests.support.helm import named, render
from tests.support.rooms.hosted_rooms import (
    HOSTED,
    add_credentials,
    guest,
    join,
    room_server,
    settings_for,
    signal_url,
)
from tests.support.rooms.participant import participant

pytestmark = pytest.mark.media

DOMAIN = "turn.example.org"


async def test_participants_without_another_way_meet_through_turn_over_udp_and_over_tls(
    start_facade: StartFacade, resources: StoredResources, sign_in: Callable[..., User], tmp_path: Path
) -> None:
    add_credentials(resources)
    authority = CertificateAuthority(tmp_path)
    certificate, key = authority.issue("turn", DOMAIN, names=[x509.DNSName(DOMAIN)])
    tls_port, udp_port = free_port(), free_port()
    values = [
        *("rooms.turn.enabled=true", f"rooms.turn.domain={DOMAIN}", "rooms.turn.tlsSecret=turn-tls"),
        *(f"rooms.turn.tlsPort={tls_port}", f"rooms.turn.udpPort={udp_port}"),
        "rooms.media.exposure=HostNetwork",
    ]
    objects = render(*(word for value in values for word in ("--set", value)))
    turn = yaml.safe_load(named(objects, "ConfigMap", "onair-livekit")["data"]["livekit.yaml"])["turn"]
    mounted = {"/etc/onair-turn/tls.crt": certificate, "/etc/onair-turn/tls.key": key}
    turn = {
        name: str(mounted.get(value, value)) if name.endswith("_file") else value
        for name, value in turn.items()
    }
    own = own_address()
    rtc = {
        "udp_port": free_port(),
        "tcp_port": free_port(),
        "node_ip": own,
        "use_external_ip": False,
        "ips": {"includes": [f"{own}/32"]},
    }
    with (
        room_server(tmp_path, turn=turn, rtc=rtc) as server,
        start_facade(rooms=settings_for(server)) as studio,
    ):
        trusted = ssl.create_default_context(cafile=str(authority.certificate))
        with socket.create_connection(("127.0.0.1", tls_port), timeout=5) as plain:
            trusted.wrap_socket(plain, server_hostname=DOMAIN).close()
        show = sign_in("anna", facade=studio).project(**HOSTED)
        anna_token, _ = join(show)
        ben_token, _ = join(show, guest(show, name="ben"))
        # As the load balancer passes on the port that is told; the name is looked up with a dot and without
        rules = ",".join(f"MAP {name} {own}:{tls_port}" for name in (DOMAIN, f"{DOMAIN}."))
        flags = (
            f"--host-resolver-rules={rules}",
            f"--ignore-certificate-errors-spki-list={key_hash(certificate)}",
        )
        async with (
            participant(signal_url(studio), anna_token, relay=True) as anna,
            participant(signal_url(studio), ben_token, *flags, firewall=True) as ben,
        ):
            await ben.until("Anna is seen", lambda report: report["frames"]["anna camera"] > 5, 40)
            await anna.until("Ben is seen", lambda report: report["frames"]["ben camera"] > 5, 40)
            for each, way in ((anna, "udp"), (ben, "tls")):
                await each.until("the way of media is known", lambda report: report["paths"])
                assert {(path["own"], path["by"]) for path in each.report["paths"]} == {("relay", way)}
            assert {path["url"] for path in ben.report["paths"]} == {f"turns:{DOMAIN}:443?transport=tcp"}


def key_hash(certificate: Path) -> str:
    """By which Chromium is told that it may trust a certificate's key, and no other, whoever signed it."""
    public = x509.load_pem_x509_certificate(certificate.read_bytes()).public_key()
    info = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(info).digest()).decode()


def own_address() -> str:
    """The machine's address on the way to others; a browser asks no TURN server on loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unsent:
        unsent.connect(("192.0.2.1", 9))
        return str(unsent.getsockname()[0])
