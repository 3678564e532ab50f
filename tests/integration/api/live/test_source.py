"""Live sources of a collection: assigned addresses, keys in Secrets, deletion in use."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial

import pytest
from tests.support.facade import FacadeThread, Show, StartFacade, StoredResources, User
from tests.support.source_requests import create, key_secrets, on_air, path_of
from tests.support.tokens import assert_error, claims_of, fields_of, forged, invite, private_key, seen_by
from tests.support.waiting import wait_for

from onair_api.settings import IngestSettings
from onair_crds.contract.ingest import (
    ADDRESSES_CONFIG_MAP,
    ADDRESSES_KEY,
    FoundAddresses,
    IngestEndpoint,
    assigned_push,
    cluster_ingest,
)
from onair_crds.resources.source import SourceAddress
from onair_crds.shapes import JsonObject


def test_a_pushed_source_gets_its_address(show: Show, resources: StoredResources) -> None:
    source = create(show.user, show.collection, metadata={"name": "Camera"})
    base = f"rtmp://onair-ingest.{resources.release}.svc:1935/live"
    push = source["address"]["rtmpPush"]
    assert push == {"enabled": True, "baseUrl": base, "key": push["key"], "url": f"{base}/{push['key']}"}
    assert len(push["key"]) == 40
    assert (source["collectionId"], source["metadata"]) == (show.collection, {"name": "Camera"})
    assert "preview" not in source
    assert show.user.ok("GET", path_of(source)) == {"source": source}
    (secret,) = key_secrets(resources, source)
    assert (secret["type"], secret["immutable"]) == ("onair.dev/credentials", True)
    assert secret["metadata"]["name"] == f"source-{source['sourceId']}"
    stored = resources.get("sources", source["sourceId"])
    assert push["key"] not in str(stored)
    assert stored["spec"]["address"] == {"rtmpPush": {"enabled": True}}


def test_the_address_is_a_function_of_source_secret_and_configuration(
    show: Show, resources: StoredResources
) -> None:
    """What the operator works out from the same three is what the facade answered."""
    for kind in ("rtmpPush", "srtPush"):
        source = create(show.user, show.collection, address={kind: {}})
        (secret,) = key_secrets(resources, source)
        key = base64.b64decode(secret["data"]["streamKey"]).decode()
        spec = resources.get("sources", source["sourceId"])["spec"]["address"]
        assigned = assigned_push(SourceAddress.model_validate(spec), key, cluster_ingest(resources.release))
        assert assigned
        (push,) = source["address"].values()
        assert push["url"] == assigned.url
        assert push.get("key", push.get("streamId")) == assigned.stream
        assert push["baseUrl"] == assigned.base_url


def test_addresses_that_were_found_reach_new_answers(
    start_facade: StartFacade, sign_in: Callable[..., User], resources: StoredResources
) -> None:
    config_maps = f"/api/v1/namespaces/{resources.release}/configmaps"
    path = f"{config_maps}/{ADDRESSES_CONFIG_MAP}"
    resources.admin.delete(path)
    with start_facade(ingest=IngestSettings(found=True)) as facade:
        user = sign_in(facade=facade)
        collection = user.project().collection
        source = create(user, collection)
        push = source["address"]["rtmpPush"]
        assert set(push) == {"enabled", "key"}, "no address is known yet"

        def is_told(host: str) -> bool:
            return host in str(user.ok("GET", path_of(source)))

        for host in ("192.0.2.7", "192.0.2.8"):
            found = FoundAddresses(
                endpoints=[
                    IngestEndpoint(protocol="rtmp", base_url=f"rtmp://{host}:1935/live"),
                    IngestEndpoint(protocol="rtmps", region="eu", base_url=f"rtmps://{host}:1936/live"),
                ]
            )
            data = {"metadata": {"name": ADDRESSES_CONFIG_MAP}, "data": {ADDRESSES_KEY: found.wire()}}
            if resources.admin.get(path).is_success:
                resources.admin.put(path, json=data).raise_for_status()
            else:
                resources.admin.post(config_maps, json=data).raise_for_status()
            wait_for(partial(is_told, host), "the address is told")
            now = user.ok("GET", path_of(source))["source"]["address"]["rtmpPush"]
            assert now["url"] == f"rtmp://{host}:1935/live/{push['key']}"
            assert now["endpoints"] == [
                {"protocol": "rtmp", "baseUrl": f"rtmp://{host}:1935/live"},
                {"protocol": "rtmps", "region": "eu", "baseUrl": f"rtmps://{host}:1936/live"},
            ]
        (listed,) = user.ok("GET", f"/collection/{collection}/source")["sources"]
        assert listed["address"]["rtmpPush"] == now
        back = user.call("PATCH", path_of(source), {"updateMask": "metadata", **listed})
        assert back.is_success, back.text
        assert "Warning" not in back.headers, "a record is written back as it was read"


def test_an_srt_source_has_a_stream_id(show: Show) -> None:
    push = create(show.user, show.collection, address={"srtPush": {}})["address"]["srtPush"]
    assert set(push) == {"enabled", "baseUrl", "streamId", "url"}
    assert push["streamId"].startswith("publish:")
    assert push["url"] == f"{push['baseUrl']}?streamid={push['streamId']}"


def test_a_pulled_source_keeps_its_url(show: Show, resources: StoredResources) -> None:
    address = {"rtmpPull": {"url": "rtmp://camera.example/live/1"}}
    source = create(show.user, show.collection, address=address)
    assert source["address"] == address
    assert key_secrets(resources, source) == []


def test_a_preview_gets_its_defaults_and_its_participant(show: Show) -> None:
    source = create(show.user, show.collection, preview={"webrtc": {"displayName": "Camera"}})
    webrtc = source["preview"]["webrtc"]
    assert webrtc == {
        "enabled": True,
        "displayName": "Camera",
        "participantId": source["sourceId"],
    }
    changed = show.user.ok(
        "PATCH", path_of(source), {"preview": {"webrtc": {"enabled": False, "participantId": "mine"}}}
    )["source"]
    assert changed["preview"]["webrtc"] == {**webrtc, "enabled": False}


def test_what_is_assigned_cannot_be_chosen(show: Show) -> None:
    wish = {"key": "mine", "url": "rtmp://me.example/x", "baseUrl": "rtmp://me.example"}
    push = create(show.user, show.collection, address={"rtmpPush": wish})["address"]["rtmpPush"]
    assert not set(wish.values()) & set(push.values())


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"address": None}, {"address"}),
        ({"address": {}}, {"address"}),
        ({"address": {"rtmpPush": {}, "srtPush": {}}}, {"address"}),
        ({"address": {"rtmpPull": {}}}, {"address.rtmpPull.url"}),
        ({"address": {"rtmpPull": {"url": "http://a.example"}}}, {"address.rtmpPull.url"}),
        ({"address": {"rtmpPull": {"url": "rtmp://[::ffff:10.0.0.1]/live/a"}}}, {"address.rtmpPull.url"}),
        ({"address": {"rtmpPush": {"enabled": "yes"}}}, {"address.rtmpPush.enabled"}),
        (
            {"address": {"rtmpPush": {}}, "preview": {"webrtc": {"displayName": "x" * 257}}},
            {"preview.webrtc.displayName"},
        ),
    ],
)
def test_a_wrong_source_leaves_nothing_behind(
    show: Show, resources: StoredResources, body: JsonObject, fields: set[str]
) -> None:
    before = len(resources.secrets())
    response = show.user.call("POST", f"/collection/{show.collection}/source", body)
    assert fields_of(response) == fields
    assert show.user.ok("GET", f"/collection/{show.collection}/source") == {"sources": []}
    assert len(resources.secrets()) == before


def test_creation_needs_the_scope(
    facade: FacadeThread, sign_in: Callable[..., User], resources: StoredResources, anna: User
) -> None:
    mute = sign_in(key=resources.add_api_key("mute", scopes=""))
    collection = mute.collection()
    response = mute.call("POST", f"/collection/{collection}/source", {"address": {"rtmpPush": {}}})
    assert_error(response, 403, 7)
    assert "SCOPE_VAPI_CREATE" in response.json()["message"]
    pem, _ = private_key(resources)
    path = f"/collection/{anna.collection()}/source"
    assert claims_of(anna.token)["scopes"] == ["SCOPE_VAPI_CREATE"]
    assert_error(forged(anna, pem, scopes=[]).call("POST", path, {"address": {"rtmpPush": {}}}), 403, 7)


def test_sources_are_listed_oldest_first_and_in_their_collection(show: Show) -> None:
    made = [create(show.user, show.collection) for _ in range(4)]
    assert show.user.ok("GET", f"/collection/{show.collection}/source") == {"sources": made}
    path = f"/collection/{show.collection}"
    assert show.user.ok("GET", path)["collection"]["sources"] == made
    assert show.user.ok("GET", f"{path}?populateSources=false")["collection"]["sources"] == []
    assert show.user.ok("GET", "/collection")["collections"][0]["sources"] == made


def test_writing_back_what_was_read_changes_nothing(show: Show, resources: StoredResources) -> None:
    source = create(show.user, show.collection, preview={"webrtc": {}}, metadata={})
    version = resources.get("sources", source["sourceId"])["metadata"]["resourceVersion"]
    assert show.user.ok("PATCH", path_of(source), source)["source"] == source
    assert resources.get("sources", source["sourceId"])["metadata"]["resourceVersion"] == version


@pytest.mark.parametrize(
    "mask",
    ["address.rtmpPush.color", "sourceId", "preview.hls", "address.srtPush.streamId", "address.rtmpPush.url"],
)
def test_a_mask_names_fields_that_can_be_changed(show: Show, mask: str) -> None:
    source = create(show.user, show.collection)
    assert fields_of(show.user.call("PATCH", path_of(source), {"updateMask": mask})) == {"updateMask"}


def test_a_read_says_how_the_connection_goes_and_what_arrives(show: Show, resources: StoredResources) -> None:
    source = create(show.user, show.collection)
    assert source["connect"] == "CONNECT_STATE_DISCONNECTED"
    video = {"codec": "H264", "width": 1280, "height": 720, "framerate": 29.97}
    media = {"video": video, "audio": {"codec": "AAC", "sampleRate": 48000, "channels": 2}}
    status = {"connect": "Connected", "since": "2026-01-02T03:04:05Z", "replacedKey": True}
    arrives = {**status, "media": {**media, "summary": "both"}, "stream": "a1", "gateway": "onair-ingest-0"}

    def written(status: JsonObject | None) -> None:
        resources.patch("sources", source["sourceId"], {"status": status}, "status")

    def read() -> JsonObject:
        found: JsonObject = show.user.ok("GET", path_of(source))["source"]
        return {name: value for name, value in found.items() if name not in source or name == "connect"}

    written(arrives)
    shown = {**status, "connect": "CONNECT_STATE_CONNECTED", "media": media}
    wait_for(lambda: read() == shown, "the connection is seen")
    lost = {
        "connect": "Disconnected",
        "lastError": "203.0.113.9:1935 refused",
        "media": None,
        "replacedKey": None,
    }
    written(lost)
    ended = {
        "connect": "CONNECT_STATE_DISCONNECTED",
        "since": status["since"],
        "lastError": "203.0.113.9:1935 refused",
    }
    wait_for(lambda: read() == ended, "the end is seen")
    show.user.ok("PUT", f"{show.path}/source/{source['sourceId']}", {})
    (listed,) = seen_by(invite(show, "VIEWER"), show).get()["project"]["sources"]
    assert (listed["connect"], "lastError" in listed) == (ended["connect"], False), "an error names a server"


def test_a_deletion_takes_the_key_and_leaves_the_projects(show: Show, resources: StoredResources) -> None:
    source = create(show.user, show.collection)
    other = show.user.project(show.collection)
    for each in (show, other):
        show.user.ok("PUT", f"{each.path}/source/{source['sourceId']}")
    response = show.user.ok("DELETE", path_of(source))
    assert sorted(response["projectIdsUpdated"]) == sorted([show.id, other.id])
    assert show.get()["project"]["sources"] == []
    assert resources.get("projects", show.id)["spec"].get("sources", []) == []
    assert key_secrets(resources, source) == []
    assert_error(show.user.call("GET", path_of(source)), 404, 5)
    assert_error(show.user.call("DELETE", path_of(source)), 404, 5)


def test_an_update_says_whether_it_changed_what_is_on_air(show: Show, resources: StoredResources) -> None:
    used, unused, idle = (create(show.user, show.collection) for _ in range(3))
    other = show.user.project(show.collection)
    show.user.ok("PUT", f"{show.path}/source/{used['sourceId']}")
    show.user.ok("PUT", f"{other.path}/source/{idle['sourceId']}")
    on_air(resources, show)

    def updates(source: JsonObject, **body: object) -> object:
        return show.user.ok("PATCH", path_of(source), body)["broadcastUpdated"]

    assert updates(used, metadata=1, preview={"webrtc": {"displayName": "left"}}) is False
    assert updates(used, updateMask="address", address={"rtmpPush": {}}) is False, "enabled is the default"
    assert updates(used, updateMask="address", address={"rtmpPush": {"enabled": False}}) is True
    assert updates(used, updateMask="address", address={"srtPush": {"enabled": False}}) is False, "still off"
    assert updates(used, updateMask="address", address={"srtPush": {"enabled": True}}) is True
    assert updates(used, updateMask="address", address={"rtmpPull": {"url": "rtmp://a.example/b"}}) is True
    for source in (unused, idle):
        assert updates(source, updateMask="address", address={"srtPush": {}}) is False
        assert updates(source, updateMask="address", address={"srtPush": {"enabled": False}}) is False


def test_a_source_in_use_is_deleted_by_force_alone(show: Show, resources: StoredResources) -> None:
    source, free = create(show.user, show.collection), create(show.user, show.collection)
    show.user.ok("PUT", f"{show.path}/source/{source['sourceId']}")
    on_air(resources, show)
    assert_error(show.user.call("DELETE", path_of(source)), 400, 9)
    assert show.user.ok("DELETE", path_of(free)) == {"projectIdsUpdated": []}
    assert show.user.ok("DELETE", f"{path_of(source)}?force=true") == {"projectIdsUpdated": [show.id]}


def test_a_collection_counts_the_sources_that_go_with_it(show: Show, resources: StoredResources) -> None:
    made = [create(show.user, show.collection) for _ in range(3)]
    response = show.user.ok("DELETE", f"/collection/{show.collection}")
    assert response == {"sourcesDeleted": 3, "projectsDeleted": 1, "projectIdsStopped": []}
    for source in made:
        assert not resources.exists("sources", source["sourceId"])
        assert key_secrets(resources, source) == []


def test_a_source_belongs_to_its_collection_alone(show: Show, sign_in: Callable[..., User]) -> None:
    source = create(show.user, show.collection)
    stranger = sign_in()
    for method, body in (("GET", None), ("PATCH", {"metadata": 1}), ("DELETE", None)):
        assert_error(stranger.call(method, path_of(source), body), 404, 5)
        moved = f"/collection/{show.user.collection()}/source/{source['sourceId']}"
        assert_error(show.user.call(method, moved, body), 404, 5)
    assert_error(stranger.call("GET", f"/collection/{show.collection}/source"), 404, 5)
