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
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

PAGE = """<script>
const seen = {secure: isSecureContext};
const engine = new Promise(done => {
  const socket = new WebSocket('ws://127.0.0.1:8000');
  socket.onmessage = event => done(JSON.parse(event.data).name);
  socket.onclose = () => done('refused');
});
const port = fetch('http://127.0.0.1:8450/sources/source.js').then(
  response => response.status, () => 'refused');
(async () => {
  Object.assign(seen, {engine: await engine, port: await port});
  seen.permission = (await navigator.permissions.query({name: 'loopback-network'})).state;
})();
setInterval(() => say(JSON.stringify(seen)), 200);
</script>"""
"""It says again and again what it has seen so far."""
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


REACHED = {"engine": "state", "port": 200, "permission": "granted"}
REFUSED = {"engine": "refused", "port": "refused", "permission": "denied"}


def found(site: PublicSite) -> JsonObject:
    """What the page has seen so far."""
    said = site.said()
    return json.loads(said[-1]) if said else {}


@pytest.mark.parametrize(
    ("scheme", "granted", "expected"),
    [
        ("https", True, {"secure": True, **REACHED}),
        ("https", False, {"secure": True, **REFUSED}),
        ("http", True, {"secure": False, **REFUSED}),
    ],
    ids=["policy", "no-policy", "policy, by plain http"],
)
def test_a_public_page_reaches_the_ports_of_its_pod_by_policy_alone(
    tmp_path: Path, far_end: RtmpContainer, scheme: str, expected: JsonObject, *, granted: bool
) -> None:
    with network_of(NETWORK) as internet, PublicSite(tmp_path / "site", internet, PAGE, scheme) as site:
        managed = policies(tmp_path / "policies", site, granted=granted)
        with PodPair(tmp_path, policies=managed) as pair:
            docker("network", "connect", internet, f"{pair.name}-browser")
            pair.wait_agent()
            pair.put(programme(site.url, far_end, "public")).raise_for_status()
            wait_for(lambda: len(found(site)) == len(expected), "it has tried", 60, state=site.said)
            assert found(site) == expected
            pair.wait_connected("public")
