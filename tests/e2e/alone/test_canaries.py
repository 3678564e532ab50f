"""No secret is in logs, objects, Events, statuses, metrics, command lines, environments or core dumps."""

from __future__ import annotations

import base64
import subprocess
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import pytest
from tests.support.canaries import (
    PROGRAMS,
    core_dumps,
    metrics_of,
    nodes,
    on_node,
    places,
    secrets_of,
    spellings,
    tokens_in,
)
from tests.support.cluster import SHOWS, SYSTEM, LocalCluster, connect_of
from tests.support.foreign_servers import BUCKET, ForeignCredentials, ForeignServers
from tests.support.helm import KEYS
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.pod_page import PAGE, URL, page_in_pod
from tests.support.media.stream import gray_frames
from tests.support.plain_http import NO_TLS
from tests.support.receiver import IN_CLUSTER_RTMP, ReceiverClient, rtsp_url
from tests.support.scene.live_scene import LiveScene
from tests.support.shows import FacadeClient, LiveShow
from tests.support.waiting import wait_for

from onair_crds.contract.ingest_gateway import reader_token, stream_of_key
from onair_crds.contract.pod import COMPOSITOR_URL, PROGRAM_FOLDER
from onair_crds.contract.program import Program
from onair_crds.shapes import JsonObject

NOBODY = "nobody.shows.svc"
TALKATIVE = """<script>
console.log(location.href);
setTimeout(() => { throw new Error(location.href); });
Promise.reject(new Error(document.URL));
new Image().src = `http://127.0.0.1:8450/none?${location.search}`;
new WebSocket(`ws://127.0.0.1:8000/none${location.search}`);
</script>"""
"""Tells whoever listens of its address, and so of its token, as pages do that nobody had looked at."""
IN_ITS_SOURCE = ("key of a pull", "password of a pull", "key of a pull that fails")
"""In the url of what is pulled, which is in its spec."""
PLANTED = "planted"
WHITE = 220
"""What is brighter in the mean is the scene's one layer."""


def canary(name: str) -> str:
    return f"canary-{name.replace(' ', '-')}-{uuid.uuid4().hex}"


class Given(dict[str, str]):
    """Secrets by what they are; a canary where there is none yet."""

    def __missing__(self, name: str) -> str:
        self[name] = canary(name)
        return self[name]


@pytest.fixture
def given() -> Given:
    return Given()


@pytest.fixture
def foreign(given: Given, cluster: LocalCluster, tmp_path: Path) -> Iterator[ForeignServers]:
    credentials = ForeignCredentials(
        passphrase=given["passphrase"],
        publish_password=given["password in a stream id"],
        read_password=given["password of a pull"],
        access_key=given["access key"],
        secret_key=given["secret key"],
    )
    with ForeignServers(cluster, tmp_path, credentials) as foreign:
        yield foreign


def used(given: Given, foreign: ForeignServers) -> list[JsonObject]:
    """An address of every kind, each with all secrets that it has, at servers that ask for them."""
    srt = f"{foreign.srt_url}&passphrase={given['passphrase']}"
    keys = {"accessKey": given["access key"], "secretKey": given["secret key"]}
    bucket = {"region": "us-east-1", "bucket": BUCKET, "endpoint": foreign.endpoint}
    return [
        {"rtmpPush": {"url": f"{IN_CLUSTER_RTMP}/live", "key": given["stream key"]}},
        {"rtmpPush": {"url": srt, "key": foreign.stream_id}},
        {"objectStorage": {**bucket, **keys, "packaging": {"hls": {"segmentDuration": 2000}}}},
    ]


def unreachable(given: Given) -> list[JsonObject]:
    """The same at nobody's: what fails is told of."""
    keys = {
        "accessKey": given["refused access key"],
        "secretKey": given["refused secret key"],
        "token": given["refused session token"],
    }
    bucket = {"region": "a", "bucket": "b", "endpoint": f"http://{NOBODY}:9000"}
    phrase = given["refused passphrase"]
    return [
        {"rtmpPush": {"url": f"rtmp://{NOBODY}/live", "key": given["refused key"]}},
        {"srtPush": {"url": f"srt://{NOBODY}:9000?streamid=publish:a&passphrase={phrase}"}},
        {"objectStorage": {**bucket, **keys, "packaging": {"hls": {"lifecycle": {"live": {}}}}}},
    ]


def test_no_secret_is_anywhere_but_in_secrets(
    make_show: Callable[..., LiveShow],
    facade_client: FacadeClient,
    cluster: LocalCluster,
    receiver: ReceiverClient,
    given: Given,
    foreign: ForeignServers,
) -> None:
    show = make_show(composition={"studioSdk": {"rendererUrl": URL}}, webrtc={"hosted": {}})

    def added(address: JsonObject) -> str:
        made = facade_client.call("POST", f"{show.path}/destination", {"address": address})
        return str(made["destination"]["destinationId"])

    def source(address: JsonObject) -> JsonObject:
        made = facade_client.call("POST", f"/collection/{show.collection}/source", {"address": address})
        facade_client.call("PUT", f"{show.path}/source/{made['source']['sourceId']}", {})
        return made["source"]  # type: ignore[no-any-return]

    working, failing = ([added(each) for each in kind] for kind in (used(given, foreign), unreachable(given)))
    destinations = {name for name in given if name not in IN_ITS_SOURCE}
    by_rtmp, by_srt = (source({kind: {}}) for kind in ("rtmpPush", "srtPush"))
    pull = foreign.pull_url(given["key of a pull"], given["password of a pull"])
    pulled = source({"rtmpPull": {"url": pull}})
    lost = source({"rtmpPull": {"url": f"rtmp://{NOBODY}/live/{given['key of a pull that fails']}"}})
    refuse(facade_client, show, given)
    given |= tokens_of(facade_client, cluster, show)
    show.start()
    pod = cluster.until("the pod runs", lambda: cluster.running_pod(show.project))
    page = PAGE.replace("SOURCE", by_rtmp["sourceId"]) + TALKATIVE
    with (
        page_in_pod(cluster, pod, page),
        FfmpegEncoder(by_rtmp["address"]["rtmpPush"]["url"]),
        FfmpegEncoder(by_srt["address"]["srtPush"]["url"]),
        FfmpegEncoder(foreign.push_url(given["key of a pull"])),
    ):
        receiver.wait_ready(f"live/{given['stream key']}", 60)
        cluster.until("its page reads the source", lambda: is_read(cluster), 60)
        for flowing in (by_rtmp, by_srt, pulled):
            cluster.until("each source is connected", partial(is_connected, cluster, flowing), 60)
        cluster.until("it is pulled with the password", lambda: foreign.is_read(given["key of a pull"]))
        cluster.until("the lost one has failed", lambda: "lastError" in status_of(cluster, lost))
        for each in working:
            cluster.until(f"{each} works", partial(has_become, cluster, each, "Connected"), 60)
        assert foreign.receives(), "by SRT, with passphrase and password"
        assert foreign.stored("*.ts"), "with the keys"
        for each in failing:
            cluster.until(f"{each} has failed", partial(has_become, cluster, each, "Disconnected", "Failed"))
        given |= tokens_of_player(
            facade_client, f"/collection/{show.collection}/source/{by_rtmp['sourceId']}"
        )
        given |= tokens_in_pod(cluster, pod, URL)
        show_scene(show, given["stream key"])
        given |= tokens_in_pod(cluster, pod, COMPOSITOR_URL)
        handed_over = program_text(cluster, pod)
        assert not {name for name in destinations if given[name] not in handed_over}
        key = base64.b64decode(cluster.get("secret", "onair-ingest", SYSTEM)["data"]["secret"])
        stream = stream_of_key(by_rtmp["address"]["rtmpPush"]["key"])
        assert reader_token(key, stream) in given.values()
        assert_nowhere(cluster, given, destinations)


def refuse(facade: FacadeClient, show: LiveShow, given: Given) -> None:
    """Has requests with secrets in the wrong places refused."""
    secret = given["what requests were refused with"]
    for address in ({"rtmpPush": {"url": secret}}, {"rtmpPush": {"url": 5, "key": secret}}):
        response = facade.http.post(f"/live/v2{show.path}/destination", json={"address": address})
        assert response.status_code == 400
    for url in (f"rtmp://user:{secret}@{NOBODY}/live/a", f"srt://{NOBODY}:9000?passphrase={secret}"):
        address = {"rtmpPull": {"url": url}}
        response = facade.http.post(
            f"/live/v2/collection/{show.collection}/source", json={"address": address}
        )
        assert response.status_code == 400, url
        assert secret not in response.text


def tokens_of(facade: FacadeClient, cluster: LocalCluster, show: LiveShow) -> dict[str, str]:
    """What lets others in: the signatures of tokens, a code, a key."""
    invitation = {"collectionId": show.collection, "projectId": show.project, "role": "ROLE_GUEST"}
    invited = facade.call(
        "POST", "/authentication/token/guest", {**invitation, "direct": {}, "url": "https://studio.example"}
    )
    renderer = facade.call(
        "POST", "/authentication/token/guest", {**invitation, "role": "ROLE_RENDERER", "exchange": {}}
    )
    return {
        "renderer's token": signature(renderer["accessToken"]),
        "room's token": token_of_room(facade, show),
        "guest token": signature(invited["accessToken"]),
        "guest code": invited["url"].rsplit("/", 1)[1],
        "access token": signature(str(facade.http.headers["Authorization"])),
        "API key": cluster.api_key(),
    }


def signature(token: str) -> str:
    (found,) = tokens_in(token)
    return found


def token_of_room(facade: FacadeClient, show: LiveShow) -> str:
    """The signature of one that was used."""
    access = facade.call("POST", f"{show.path}/webrtc/token", {"displayName": "Canary"})["webrtcAccess"]
    token = str(access["accessToken"])
    # By itself, as clients do: the header of the facade's own token would go before it
    url = facade.http.base_url.join("/webrtc/v2/rtc/validate")
    httpx.get(url, params={"access_token": token}, trust_env=False, verify=NO_TLS).raise_for_status()
    return signature(token)


def tokens_of_player(facade: FacadeClient, source: str) -> dict[str, str]:
    """The signatures of those that open and play a source's HLS preview."""
    address = urlsplit(str(facade.call("GET", f"{source}/preview/hls")["url"])).path
    media = urljoin(address, facade.http.get(address).raise_for_status().text.split()[-1])
    facade.http.get(media)  # there may be no segment yet
    return {
        f"{name} token of a player": path.split("/")[-2].partition(".")[0]
        for name, path in (("opening", address), ("playing", media))
    }


def program_text(cluster: LocalCluster, pod: str) -> str:
    """The programme as the pod has it in its memory, with all that it needs in clear."""
    return cluster.shows("exec", pod, "-c", "encoder", "--", "cat", f"{PROGRAM_FOLDER}/program.json")


def tokens_in_pod(cluster: LocalCluster, pod: str, page: str) -> dict[str, str]:
    """Those that the encoder was handed for a page: its own, and what reads sources."""

    def handed_over() -> Program | None:
        program = Program.model_validate_json(program_text(cluster, pod))
        return program if program.composition_url == page and program.page_token else None

    program = cluster.until(f"the programme has {page}", handed_over)
    readers = {f"token of {each.id}": each.token.get_secret_value() for each in program.sources}
    return {f"token of {page}": signature(program.page_token.get_secret_value()), **readers}


def show_scene(show: LiveShow, key: str) -> None:
    """Puts a scene in the place of the page, which has a room too, and waits until it is seen."""
    layers = {
        "square": {"type": "square", "width": 640, "height": 360, "data": {"backgroundColor": "#fff"}},
        "camera": {
            "type": "webrtc",
            "x": 0,
            "y": 0,
            "width": 8,
            "height": 8,
            "data": {"webrtc": {"id": "a"}},
        },
    }
    layout = LiveScene(show).layout(**layers)
    composition = {"scene": {"selectedLayoutId": layout.id}}
    show.facade.call("PATCH", show.path, {"updateMask": "composition", "composition": composition})
    wait_for(
        lambda: float(gray_frames(rtsp_url(f"live/{key}"), 0.5)[-1].mean()) > WHITE, "the scene is seen", 60
    )


def status_of(cluster: LocalCluster, source: JsonObject) -> JsonObject:
    status: JsonObject = cluster.get("source", source["sourceId"]).get("status", {})
    return status


def is_connected(cluster: LocalCluster, source: JsonObject) -> bool:
    return status_of(cluster, source).get("connect") == "Connected"


def has_become(cluster: LocalCluster, destination: str, *states: str) -> bool:
    return connect_of(cluster, destination) in states


def is_read(cluster: LocalCluster) -> bool:
    """Whether an encoder reads a source from a gateway."""
    readers = [
        float(line.rpartition(" ")[2])
        for pod in cluster.list("pod", namespace=SYSTEM)
        if pod["metadata"]["name"].startswith("onair-ingest")
        for _, text in metrics_of(cluster, SYSTEM, pod)
        for line in text.splitlines()
        if line.startswith("onair_ingest_readers")
    ]
    return any(readers)


def found_in(sought: Collection[tuple[str, str]], seen: Mapping[str, str]) -> set[tuple[str, str]]:
    """What is in which places: secrets by their names, and all that has the form of a token.

    Args:
        sought: names and values.
        seen: what each place says.
    """
    found = {
        (name, place)
        for name, value in sought
        for place, text in seen.items()
        if any(spelling in text for spelling in spellings(value))
    }
    return found | {("a token", place) for place, text in seen.items() if tokens_in(text)}


def assert_nowhere(cluster: LocalCluster, given: dict[str, str], stored: Collection[str]) -> None:
    """
    Args:
        given: secrets beside those in Secrets, by what they are.
        stored: those of them that are in a Secret.
    """
    in_secrets = secrets_of(cluster)
    assert not {name for name in stored if not any(given[name] in each for each in in_secrets)}
    sought = {value: name for name, value in given.items()} | in_secrets
    assert len(sought) > len(given) + 10
    assert any(name.startswith(f"{KEYS}/") and name.endswith(": private.pem") for name in sought.values())
    seen = dict(places(cluster))
    for kind in (
        "objects",
        "log of onair-operator",
        "log of onair-api",
        "log of onair-ingest",
        "metrics of onair-",
    ):
        assert any(place.startswith(kind) for place in seen), f"{kind} was looked at"
    for kind, known in (
        ("command lines", "onair_encoder"),
        ("environments", "ONAIR_CONFIG"),
        ("objects in shows", NOBODY),
        ("log of onair-worker", "containerd"),
        ("logs that onair-worker", "program.running"),
    ):
        texts = [text for place, text in seen.items() if place.startswith(kind)]
        assert any(known in text for text in texts), f"{kind} were looked at"
    objects = f"objects in {SHOWS}"
    in_spec = {name: seen[objects].count(given[name]) for name in IN_ITS_SOURCE}
    assert in_spec == dict.fromkeys(IN_ITS_SOURCE, 1), "in the url that is pulled, as its owner gave it"
    named = {(name, value) for value, name in sought.items()}
    assert found_in(named, seen) == {(name, objects) for name in IN_ITS_SOURCE}


def test_what_is_in_any_of_the_places_is_found(cluster: LocalCluster, given: Given) -> None:
    """Or the search would show nothing."""
    (node, *_) = nodes(cluster)
    (facade, *_) = cluster.list("pod", "app.kubernetes.io/component=api", SYSTEM)
    pod, its_node = facade["metadata"]["name"], facade["spec"]["nodeName"]
    written = f"open('/proc/1/fd/1', 'w').write('{given['log']}\\n')"
    cluster.kubectl("-n", SYSTEM, "exec", pod, "--", "python3", "-c", written)
    on_node(node, f"echo {given['journal']} | systemd-cat")
    cluster.shows("create", "configmap", PLANTED, f"--from-literal=text={given['object']}")
    environment = ("docker", "exec", "-i", "-e", f"PLANTED={given['environment']}", node)
    with subprocess.Popen([*environment, "sh", "-c", "read line", given["argument"]], stdin=subprocess.PIPE):
        try:
            wanted = {
                ("log", f"log of {pod}"),
                ("log", f"logs that {its_node} keeps"),
                ("journal", f"log of {node}"),
                ("object", f"objects in {SHOWS}"),
                ("environment", f"environments on {node}"),
                ("argument", f"command lines on {node}"),
            }
            cluster.until("all is found", lambda: wanted <= found_in({*given.items()}, dict(places(cluster))))
        finally:
            cluster.shows("delete", "configmap", PLANTED)
    for spelling in (given["log"], f'"{given["log"]}"', base64.b64encode(given["log"].encode()).decode()):
        assert found_in({("log", given["log"])}, {"a place": spelling})
    token = str(cluster.shows("create", "token", "default")).strip()
    assert found_in(set(), {"a place": f"Bearer {token}"}) == {("a token", "a place")}


def test_none_of_our_processes_leaves_a_core_dump(on_air: LiveShow, cluster: LocalCluster) -> None:
    found = core_dumps(cluster)
    assert {program for program, _ in found} == {*PROGRAMS}
    unbound = {program for program, seen in found if not seen.limited}
    assert unbound == {"mediamtx", "livekit-server"}, "those in Go, which are judged by their runtime"
    assert not {program for program, seen in found if not (seen.limited or seen.by_runtime)}
