"""No secret is in logs, objects, Events, statuses, metrics, command lines, environments or core dumps."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable
from functools import partial
from urllib.parse import urljoin, urlsplit

import httpx
from tests.support.canaries import on_node, places, secrets_of, spellings
from tests.support.cluster import SYSTEM, LocalCluster, connect_of
from tests.support.helm import KEYS
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.pod_page import URL, page_of_source
from tests.support.plain_http import NO_TLS
from tests.support.receiver import IN_CLUSTER_RTMP, ReceiverClient
from tests.support.shows import FacadeClient, LiveShow

from onair_crds.contract.ingest_gateway import reader_token, stream_of_key
from onair_crds.shapes import JsonObject

NOBODY = "nobody.shows.svc"
OURS = "onair_(operator|api|ingest|encoder)"


def canary(name: str) -> str:
    return f"canary-{name}-{uuid.uuid4().hex}"


def addresses(given: dict[str, str]) -> list[JsonObject]:
    """Every kind of address with every secret that it has; only the first leads to a server."""

    def new(name: str) -> str:
        return given.setdefault(name, canary(name))

    packaging: JsonObject = {"packaging": {"hls": {"lifecycle": {"live": {}}}}}
    keys = {"accessKey": new("access-key"), "secretKey": new("secret-key"), "token": new("token")}
    bucket = {"region": "a", "bucket": "b", "endpoint": f"http://{NOBODY}:9000"}
    return [
        {"rtmpPush": {"url": f"{IN_CLUSTER_RTMP}/live", "key": new("stream-key")}},
        {"rtmpPush": {"url": f"rtmp://{NOBODY}/live", "key": new("refused-key")}},
        {"srtPush": {"url": f"srt://{NOBODY}:9000", "passphrase": new("passphrase")[:79]}},
        {"objectStorage": {**bucket, **keys, **packaging}},
    ]


def test_no_secret_is_anywhere_but_in_secrets(
    make_show: Callable[..., LiveShow],
    facade_client: FacadeClient,
    cluster: LocalCluster,
    receiver: ReceiverClient,
) -> None:
    given: dict[str, str] = {}
    show = make_show(URL, webrtc={"hosted": {}})
    created = [
        facade_client.call("POST", f"{show.path}/destination", {"address": each})["destination"][
            "destinationId"
        ]
        for each in addresses(given)
    ]
    source = facade_client.call(
        "POST", f"/collection/{show.collection}/source", {"address": {"rtmpPush": {}}}
    )["source"]
    facade_client.call("PUT", f"{show.path}/source/{source['sourceId']}", {})
    invitation = {"collectionId": show.collection, "projectId": show.project, "role": "ROLE_GUEST"}
    invited = facade_client.call(
        "POST", "/authentication/token/guest", {**invitation, "direct": {}, "url": "https://studio.example"}
    )
    renderer = facade_client.call(
        "POST", "/authentication/token/guest", {**invitation, "role": "ROLE_RENDERER", "exchange": {}}
    )
    given |= {
        "renderer's token": renderer["accessToken"].rsplit(".", 1)[1],
        "room's token": token_of_room(facade_client, show),
        "guest token": invited["accessToken"].rsplit(".", 1)[1],
        "guest code": invited["url"].rsplit("/", 1)[1],
        "access token": facade_client.http.headers["Authorization"].rsplit(".", 1)[1],
        "API key": cluster.api_key(),
    }
    show.start()
    pod = cluster.until("the pod runs", lambda: cluster.running_pod(show.project))
    with (
        page_of_source(cluster, pod, source["sourceId"]),
        FfmpegEncoder(source["address"]["rtmpPush"]["url"]),
    ):
        receiver.wait_ready(f"live/{given['stream-key']}", 60)
        cluster.until("its page reads the source", lambda: is_read(cluster), 60)
        given |= tokens_of_player(facade_client, f"/collection/{show.collection}/source/{source['sourceId']}")

        def has_failed(destination: str) -> bool:
            return connect_of(cluster, destination) not in ("None", "Connecting")

        for each in created[1:]:
            cluster.until(
                f"{each} has failed",
                partial(has_failed, each),
            )
        for refused in (
            {"rtmpPush": {"url": given["token"]}},
            {"rtmpPush": {"url": 5, "key": given["token"]}},
        ):
            response = facade_client.http.post(f"/live/v2{show.path}/destination", json={"address": refused})
            assert response.status_code == 400
        key = base64.b64decode(cluster.get("secret", "onair-ingest", SYSTEM)["data"]["secret"])
        stream = stream_of_key(source["address"]["rtmpPush"]["key"])
        assert_nowhere(cluster, {**given, "reader's token": reader_token(key, stream)})


def token_of_room(facade: FacadeClient, show: LiveShow) -> str:
    """The signature of one that was used."""
    access = facade.call("POST", f"{show.path}/webrtc/token", {"displayName": "Canary"})["webrtcAccess"]
    token = str(access["accessToken"])
    # By itself, as clients do: the header of the facade's own token would go before it
    url = facade.http.base_url.join("/webrtc/v2/rtc/validate")
    httpx.get(url, params={"access_token": token}, trust_env=False, verify=NO_TLS).raise_for_status()
    return token.rsplit(".", 1)[1]


def tokens_of_player(facade: FacadeClient, source: str) -> dict[str, str]:
    """The signatures of those that open and play a source's HLS preview."""
    address = urlsplit(str(facade.call("GET", f"{source}/preview/hls")["url"])).path
    media = urljoin(address, facade.http.get(address).raise_for_status().text.split()[-1])
    facade.http.get(media)  # there may be no segment yet
    return {
        f"{name} token of a player": path.split("/")[-2].partition(".")[0]
        for name, path in (("opening", address), ("playing", media))
    }


def is_read(cluster: LocalCluster) -> bool:
    """Whether an encoder reads a source from a gateway."""
    readers = [
        float(line.rpartition(" ")[2])
        for place, text in places(cluster)
        if place.startswith("metrics of onair-ingest")
        for line in text.splitlines()
        if line.startswith("onair_ingest_readers")
    ]
    return any(readers)


def assert_nowhere(cluster: LocalCluster, given: dict[str, str]) -> None:
    """
    Args:
        given: secrets beside those in Secrets, by what they are.
    """
    sought = {value: name for name, value in given.items()} | secrets_of(cluster)
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
    for kind, known in (("command lines", "onair_encoder"), ("environments", "ONAIR_CONFIG")):
        texts = [text for place, text in seen.items() if place.startswith(kind)]
        assert any(known in text for text in texts), f"{kind} were looked at"
    found = {
        (name, place)
        for value, name in sought.items()
        for place, text in seen.items()
        if any(spelling in text for spelling in spellings(value))
    }
    assert found == set()


def test_none_of_our_processes_leaves_a_core_dump(on_air: LiveShow, cluster: LocalCluster) -> None:
    script = f"""
    for each in /proc/[0-9]*; do
      if tr '\\0' ' ' <$each/cmdline | grep -qE '{OURS}'; then
        echo $(tr '\\0' ' ' <$each/cmdline | grep -oE '{OURS}' | head -n 1) $(grep 'Max core' $each/limits)
      fi
    done"""
    nodes = cluster.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.name}").split()
    lines = [
        line.split() for node in nodes for line in on_node(node, script).splitlines() if "Max core" in line
    ]
    assert {line[0] for line in lines} == {"onair_operator", "onair_api", "onair_ingest", "onair_encoder"}
    assert {line[5] for line in lines} <= {"0", "1"}
