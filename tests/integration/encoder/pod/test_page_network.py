"""A hostile page tries all that it must not reach, with the rules of the pod's network and without them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import numpy as np
import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker, host_address, network_of
from tests.support.inside import CONNECT, CONTROL, SECRET, Inside
from tests.support.media.stream import gray_frames
from tests.support.pages import responding
from tests.support.pod_pair import NO_MORE, PodPair, programme

pytestmark = pytest.mark.media

METADATA, METADATA_NETWORK = "169.254.169.254", "169.254.169.0/24"
PUBLIC, PUBLIC_NETWORK = "44.155.7.7", "44.155.7.0/24"
LEADS = "/leads/to/"
"""Paths below it redirect to what follows."""
WAYS = {
    "tcp:6443": "to('https', 6443, () => fetch(url, {mode: 'no-cors'}))",
    "tcp:10250": "to('https', 10250, () => fetch(url, {mode: 'no-cors'}))",
    "tcp:6379": "to('http', 6379, () => fetch(url, {mode: 'no-cors', method: 'POST', body: 'x'}))",
    "tcp:8080": "to('http', 8080, () => fetch(url))",
    "tcp:8443": "to('https', 8443, () => fetch(url, {mode: 'no-cors'}))",
    "tcp:8448": "to('ws', 8448, () => opened(new WebSocket(url)))",
    "tcp:8081": "to('http', 8081, () => loaded(new Image()))",
    "tcp:8082": "to('http', 8082, () => framed(url))",
    "tcp:8083": "to('http', 8083, () => fetch('/leads/to/' + url, {mode: 'no-cors'}))",
    "tcp:8084": "to('http', 8084, () => framed('/leads/to/' + url))",
    "tcp:8085": "to('http', 8085, () => navigator.sendBeacon(url, 'x'))",
    "tcp:8086": "to('http', 8086, () => opened(new EventSource(url)))",
    "tcp:8087": "to('http', 8087, () => worked(url))",
    "udp:3478": "to('stun', 3478, () => gathered(`stun:${inside}:3478`))",
    "tcp:3479": "to('turn', 3479, () => gathered(`turn:${inside}:3479?transport=tcp`))",
}
"""How somebody inside may be reached, each way at a port of its own: `url` leads there."""
OWN = {
    "metrics": "http://127.0.0.1:9090/metrics",
    "metrics by name": "http://localhost:9090/metrics",
    "metrics by no address": "http://0.0.0.0:9090/metrics",
    "metrics by IPv6": "http://[::ffff:127.0.0.1]:9090/metrics",
    "metrics by the pod's address": "http://POD:9090/metrics",
}
PAGE = """<!doctype html><style>html {background: #fff}</style><script>
const {inside, metadata, server, own} = CONFIG;
const say = (what, value) => fetch('/said?' + new URLSearchParams({what, value: JSON.stringify(value)}));
let url = '';
const soon = promise => Promise.race([promise, new Promise(done => setTimeout(done, 4000, 'nothing'))]);
const opened = each => new Promise(done => { each.onopen = each.onerror = each.onclose = done; });
const loaded = each => new Promise(done => { each.onload = each.onerror = done; each.src = url; });
const framed = src => new Promise(done => {
  const frame = document.createElement('iframe');
  frame.onload = done; frame.src = src; document.body.append(frame);
});
const worked = url => new Promise(done => {
  const text = `fetch('${url}', {mode: 'no-cors'}).then(() => postMessage(1), () => postMessage(0))`;
  new Worker(URL.createObjectURL(new Blob([text]))).onmessage = done;
});
const gathered = async urls => {
  const servers = urls ? [{urls, username: 'a', credential: 'b'}] : [];
  const peer = new RTCPeerConnection({iceServers: servers}), found = [];
  peer.createDataChannel('a');
  peer.onicecandidate = event => event.candidate && found.push(event.candidate.candidate);
  await peer.setLocalDescription();
  await soon(new Promise(done => {
    peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done();
  }));
  for (const each of (await peer.getStats()).values()) found.push(JSON.stringify(each));
  return [...found, peer.localDescription.sdp];
};
const to = async (scheme, port, attempt) => {
  url = `${scheme}://${inside}:${port}/`;
  try { await soon(attempt()); } catch (error) { /* it is the other side that tells */ }
};
const read = address => soon(fetch(address, {mode: 'no-cors'}).then(() => 'reached', () => 'refused'));
addEventListener('load', async () => {
  for (const each of [WAYS]) await each();
  const answers = {metadata: await read(`http://${metadata}/`), server: await read(`http://${server}/`)};
  for (const [name, address] of Object.entries(own)) answers[name] = await read(address);
  say('answers', answers);
  say('candidates', await gathered());
});
</script>"""
REBINDING = """<!doctype html><style>html {background: #fff}</style><script>
const say = (what, value) => new Image().src =
  'SERVER/said?' + new URLSearchParams({what, value: JSON.stringify(value)});
say('rebinding', 'loaded');
let refused = 0;
const timer = setInterval(async () => {
  const text = await fetch('/secret').then(response => response.text(), () => '');
  if (text === SECRET) say('rebinding', 'reached');
  else if (text) refused = 0;
  else if (++refused === 20) say('rebinding', 'refused');
  if (text === SECRET || refused > 20) clearInterval(timer);
}, 100);
</script>"""


@dataclass
class Hostile:
    """The server of hostile pages, and what they say."""

    url: str = ""
    page: str = ""
    said: dict[str, Any] = field(default_factory=dict)

    def respond(self, path: str) -> tuple[int, str]:
        query = parse_qs(urlsplit(path).query)
        if path.startswith("/said?"):
            self.said[query["what"][0]] = json.loads(query["value"][0])
        if path.startswith(LEADS):
            return 302, path.removeprefix(LEADS)
        return 200, self.page

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    hostile = Hostile()
    with responding(hostile.respond) as hostile.url:
        yield hostile


def white(far_end: RtmpContainer, key: str) -> bool:
    return float(np.asarray(gray_frames(far_end.read_url(key), 0.5)[-1]).mean()) > 240


@pytest.mark.parametrize("rules", [True, False], ids=["rules", "no-rules"])
def test_a_hostile_page_reaches_nothing_inside_and_its_show_goes_on(
    tmp_path: Path, far_end: RtmpContainer, hostile: Hostile, *, rules: bool
) -> None:
    """Without the rules all of it is reached, or these attempts would show nothing."""
    host = host_address()
    with (
        network_of(METADATA_NETWORK) as link_local,
        Inside(host, *WAYS) as inside,
        Inside(host, "tcp:80", network=link_local, address=METADATA) as metadata,
        PodPair(tmp_path, page_network=NO_MORE if rules else None) as pair,
    ):
        docker("network", "connect", link_local, f"{pair.name}-browser")
        pair.wait_agent()
        config = {
            "inside": inside.address,
            "metadata": metadata.address,
            "server": f"{far_end.address}:9997",
            "own": {name: url.replace("POD", pair.address) for name, url in OWN.items()},
        }
        ways = ", ".join(f"() => {way}" for way in WAYS.values())
        hostile.page = PAGE.replace("CONFIG", json.dumps(config)).replace("WAYS", ways)
        pair.put(programme(hostile.url, far_end, "hostile")).raise_for_status()
        pair.wait_for(lambda: "candidates" in hostile.said, "all is tried", 90)
        expected = "refused" if rules else "reached"
        assert hostile.said["answers"] == dict.fromkeys(("metadata", "server", *OWN), expected)
        assert inside.reached == (set() if rules else set(WAYS))
        assert metadata.reached == (set() if rules else {"tcp:80"})
        assert hostile.said["candidates"]
        assert pair.address not in str(hostile.said["candidates"])
        pair.wait_connected("hostile")
        pair.wait_for(lambda: white(far_end, "hostile"), "the page is at the far end")
        assert not pair.status().on_slate


@pytest.mark.parametrize("rules", [True, False], ids=["rules", "no-rules"])
def test_a_name_that_turns_to_the_inside_leads_nowhere(
    tmp_path: Path, far_end: RtmpContainer, hostile: Hostile, *, rules: bool
) -> None:
    """Its second address is taken once nobody is at the first, and what is there is of the page's origin."""
    host = host_address()
    with (
        Inside(host) as inside,
        PodPair(tmp_path, page_network=NO_MORE if rules else None, name_server=inside.address) as pair,
    ):
        pair.wait_agent()
        page = REBINDING.replace("SERVER", hostile.url.rstrip("/")).replace("SECRET", json.dumps(SECRET))
        with responding(lambda _: (200, page)) as url:
            port = urlsplit(url).port
            pair.allow(f"{host}:{port}", hostile.host)
            pair.put(programme(f"http://rebound.test:{port}/", far_end, "rebinding")).raise_for_status()
            pair.wait_for(lambda: hostile.said.get("rebinding") == "loaded", "loaded")
        httpx.get(f"http://{inside.address}:{CONTROL}/{port}").raise_for_status()
        pair.wait_for(lambda: hostile.said["rebinding"] != "loaded", "tried", 30)
        assert hostile.said["rebinding"] == ("refused" if rules else "reached")
        assert inside.reached == (set() if rules else {f"tcp:{port}"})
        pair.wait_connected("rebinding")
        pair.wait_for(lambda: white(far_end, "rebinding"), "the page is at the far end")


def test_whoever_takes_the_browser_over_gets_no_further_and_others_are_not_bound(
    tmp_path: Path, far_end: RtmpContainer
) -> None:
    host = host_address()
    with (
        network_of(PUBLIC_NETWORK) as internet,
        Inside(host, "tcp:443", network=internet, address=PUBLIC) as public,
        Inside(host, "tcp:6443") as inside,
        PodPair(tmp_path, name_server=inside.address) as pair,
    ):
        docker("network", "connect", internet, f"{pair.name}-browser")
        pair.wait_agent()
        addresses = {
            f"{inside.address}:6443",
            f"{inside.address}:{CONTROL}",
            f"{far_end.address}:9997",
            *(f"{own}:{port}" for own in ("127.0.0.1", pair.address) for port in (8443, 9090)),
        }
        open_to_pages = {"127.0.0.1:8450", "127.0.0.1:8000", f"{public.address}:443"}
        assert connected(pair, "browser", *addresses, *open_to_pages) == open_to_pages
        assert connected(pair, "encoder", *addresses, *open_to_pages) == addresses | open_to_pages


def connected(pair: PodPair, container: str, *addresses: str) -> set[str]:
    """Those that the user of a container can connect to."""
    return {*docker("exec", f"{pair.name}-{container}", "python3", "-c", CONNECT, *addresses).split()}
