"""RTMPS to a real server: whose certificates are trusted, what is reported of others, a link that is cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.certificate_authority import CertificateAuthority
from tests.support.delivery.far_end import FarEnd, decoded
from tests.support.delivery.live_program import live_program
from tests.support.delivery.toxiproxy import Toxiproxy
from tests.support.delivery.watched import SentPackets, WatchedDelivery, assert_every_packet_once

from onair_crds.contract.program import ProgramDestination
from onair_encoder.publish import tls

pytestmark = pytest.mark.media


def rtmps(id_: str, port: int, path: str, host: str = "localhost") -> ProgramDestination:
    return ProgramDestination(id=id_, type="RTMPS", url=f"rtmps://{host}:{port}/{path}")


async def test_a_server_is_trusted_when_a_known_ca_has_signed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, trusted = CertificateAuthority(tmp_path), tmp_path / "trusted"
    trusted.mkdir()
    monkeypatch.setattr(tls, "CA_CERTIFICATES", trusted)
    async with (
        FarEnd(tmp_path, certificate=authority.issue_for("localhost")) as far_end,
        Toxiproxy() as toxiproxy,
        live_program() as fan_out,
    ):
        sent, watched = SentPackets(fan_out), WatchedDelivery(fan_out)
        watched.want(rtmps("stranger", far_end.rtmps, "open/stranger"))
        await watched.reports("stranger", "no known CA has signed the certificate")
        assert "retried every" in watched.errors("stranger")
        (trusted / "ours.pem").write_bytes(authority.pem)
        (trusted / "rubbish.pem").write_text("no certificate")
        link = await toxiproxy.link("link", far_end.rtmps)
        watched.want(
            rtmps("known", far_end.rtmps, "recorded/known"),
            rtmps("cut", link, "open/cut"),
            rtmps("elsewhere", far_end.rtmps, "open/elsewhere", host="127.0.0.1"),
            rtmps("in-clear", far_end.rtmp, "open/in-clear"),
        )
        await watched.connected("known", "cut")
        await watched.reports("elsewhere", "the certificate is not for 127.0.0.1; retried every")
        await watched.reports("in-clear", "ended the TLS handshake; it may not speak RTMPS")
        await toxiproxy.cut("link")
        await watched.reports("cut", f"localhost:{link}")
        await toxiproxy.restore("link")
        await watched.connected("cut")
        await far_end.received_more("open/cut", 20_000)
        await far_end.received_more("recorded/known", 100_000)
        assert not watched.errors("known")
        await watched.delivery.finish()
        await far_end.gone("recorded/known")
        assert_every_packet_once(far_end.recorded("recorded/known"), sent, least_s=1)
        assert decoded(far_end.recordings("recorded/known")[0]).errors == ""
