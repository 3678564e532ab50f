"""A page of the internet reaches the two ports that its pod has for pages, by a policy of the browser's."""

from __future__ import annotations

import base64
import json
import ssl
from pathlib import Path

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker, network_of, own_image, remove
from tests.support.pod_pair import POLICIES_FOLDER, PodPair, programme
from tests.support.public_site import NETWORK, PublicSite

pytestmark = pytest.mark.media

PAGE = """<script>
const socket = new WebSocket('ws://127.0.0.1:8000');
socket.onmessage = event => say('engine ' + JSON.parse(event.data).name);
socket.onclose = () => say('engine refused');
fetch('http://127.0.0.1:8450/sources/source.js').then(
  response => say('page port ' + response.status), () => say('page port refused'));
for (const name of ['loopback-network', 'local-network'])
  navigator.permissions.query({name}).then(
    permission => say(name + ' ' + permission.state), error => say(name + ' ' + error));
say('secure ' + isSecureContext);
</script>"""
GRANTS = "network.json"
"""The file of the policies that grant it."""


def policies(folder: Path, site: PublicSite, *, granted: bool) -> Path:
    """The image's, with the site's CA; with what grants pages the local network, or without."""
    folder.mkdir()
    container = docker("create", own_image("encoder"))
    try:
        docker("cp", f"{container}:{POLICIES_FOLDER}/.", str(folder))
    finally:
        remove(container)
    trusted = base64.b64encode(ssl.PEM_cert_to_DER_cert(site.authority.pem.decode())).decode()
    (folder / "ca.json").write_text(json.dumps({"CACertificates": [trusted]}))
    if not granted:
        (folder / GRANTS).unlink()
    return folder


@pytest.mark.parametrize("granted", [True, False], ids=["policy", "no-policy"])
def test_a_public_page_reaches_the_ports_of_its_pod_by_policy_alone(
    tmp_path: Path, far_end: RtmpContainer, *, granted: bool
) -> None:
    with network_of(NETWORK) as internet, PublicSite(tmp_path / "site", internet, PAGE) as site:
        managed = policies(tmp_path / "policies", site, granted=granted)
        with PodPair(tmp_path, policies=managed) as pair:
            docker("network", "connect", internet, f"{pair.name}-browser")
            pair.wait_agent()
            pair.put(programme(site.url, far_end, "public")).raise_for_status()
            pair.wait_for(lambda: len(site.said()) >= 5, "the page has tried", 60)
            print(site.said())
            state = "granted" if granted else "denied"
            assert site.said() == {
                "secure true",
                *(f"{name}-network {state}" for name in ("loopback", "local")),
                "engine state" if granted else "engine refused",
                f"page port {200 if granted else 'refused'}",
            }
            pair.wait_connected("public")
