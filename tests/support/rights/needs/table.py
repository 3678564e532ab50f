"""Every right of the chart, and what is lost without it.

A right that is not here fails a test, and so does one that nobody misses.
"""

from __future__ import annotations

from tests.support.helm import KEYS, NAMESPACE, SHOWS
from tests.support.rights.need import Need
from tests.support.rights.needs import (
    deleted_namespace,
    events,
    facade,
    ingest_addresses,
    nodes,
    operator_reads,
    operator_watches,
    operator_writes,
    rooms,
)
from tests.support.rights.needs.operator_reads import conflict, unused_credentials
from tests.support.rights.needs.operator_start import another_public_key, leads, lists, starts, without
from tests.support.rights.needs.operator_watches import unseen
from tests.support.rights.needs.operator_writes import writes
from tests.support.rights.objects import secrets_of

from onair_crds.contract.ingest import ADDRESSES_CONFIG_MAP
from onair_crds.contract.labels import DESTINATION_LABEL, SOURCE_LABEL
from onair_crds.contract.renderer_token import RENDERER_KEY_SECRET

OPERATOR, API = "onair-operator", "onair-api"
LEASE = f"leases.coordination.k8s.io/{OPERATOR} in {NAMESPACE}"
LEASE_PATH = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{OPERATOR}"
COLLECTION_STATUS = f"{OPERATOR} patch collections.onair.dev/status in {SHOWS}"
PROJECT_STATUS = f"{OPERATOR} patch projects.onair.dev/status"
WAITS = "an operator that starts asks for it for ever"
LATE = "a status that met a change waits for a watch that is late"
SENT_ON = "publishers are sent on to where ingest was before"
NOT_READY = "a facade that starts is never ready"

# Of those of the operator, first what it needs to start: with few objects that takes little
STARTS = {
    f"{OPERATOR} get {LEASE}": Need(WAITS, leads()),
    f"{OPERATOR} update {LEASE}": Need(WAITS, leads()),
    f"{OPERATOR} create leases.coordination.k8s.io in {NAMESPACE}": Need(WAITS, leads(without(LEASE_PATH))),
    **{
        f"{OPERATOR} get secrets/{each} in {NAMESPACE}": Need(WAITS, starts())
        for each in (
            "onair-operator-signing",
            "onair-ingest",
            "onair-renderer-signing",
            "onair-redis",
            "onair-mediamtx",
            "onair-rooms",
        )
    },
    f"{OPERATOR} create secrets in {NAMESPACE}": Need(
        WAITS, starts(without(f"{secrets_of(NAMESPACE)}/onair-operator-signing"))
    ),
    f"{OPERATOR} get secrets/{RENDERER_KEY_SECRET} in {KEYS}": Need(WAITS, starts()),
    f"{OPERATOR} create secrets in {KEYS}": Need(
        WAITS, starts(without(f"{secrets_of(KEYS)}/{RENDERER_KEY_SECRET}"))
    ),
    f"{OPERATOR} delete secrets/{RENDERER_KEY_SECRET} in {KEYS}": Need(
        WAITS, starts(another_public_key(KEYS))
    ),
    f"{OPERATOR} list collections.onair.dev in {SHOWS}": Need(WAITS, lists),
    f"{OPERATOR} list projects.onair.dev": Need(WAITS, lists),
    f"{OPERATOR} list sources.onair.dev in {SHOWS}": Need(WAITS, lists),
    f"{OPERATOR} list destinations.onair.dev in {SHOWS}": Need(WAITS, lists),
    f"{OPERATOR} list layouts.onair.dev in {SHOWS}": Need(WAITS, lists),
    f"{OPERATOR} list pods in {SHOWS}": Need(WAITS, lists),
    f"{OPERATOR} list secrets in {SHOWS}": Need(WAITS, lists),
    f"{OPERATOR} list nodes": Need(WAITS, lists),
}
WATCHES = {
    f"{OPERATOR} watch collections.onair.dev in {SHOWS}": Need(
        "a new one is not accepted", unseen(operator_watches.collection_comes)
    ),
    f"{OPERATOR} watch projects.onair.dev in {SHOWS}": Need(
        "a show that is to be on air gets no encoder", unseen(operator_watches.project_comes)
    ),
    f"{OPERATOR} watch sources.onair.dev in {SHOWS}": Need(
        "a new one gets neither key nor address", unseen(operator_watches.source_comes)
    ),
    f"{OPERATOR} watch destinations.onair.dev in {SHOWS}": Need(
        "a new one gets no status", unseen(operator_watches.destination_comes)
    ),
    f"{OPERATOR} watch layouts.onair.dev in {SHOWS}": Need(
        "a new one is not deleted with its project", unseen(operator_watches.layout_comes)
    ),
    f"{OPERATOR} watch pods in {SHOWS}": Need(
        "an encoder that is lost is not replaced", unseen(operator_watches.pod_goes)
    ),
    f"{OPERATOR} watch secrets in {SHOWS}": Need(
        "a stream key that was missing stays missing", unseen(operator_watches.secret_comes)
    ),
    f"{OPERATOR} watch nodes": Need(
        "a show says that it has no node, and there is one", unseen(operator_watches.node_comes)
    ),
}
WRITES = {
    f"{OPERATOR} patch projects.onair.dev": Need(
        "no show comes on air, as nothing would hold its project", writes(operator_writes.pod_of_a_show)
    ),
    f"{OPERATOR} patch sources.onair.dev in {SHOWS}": Need(
        "a source is not deleted with its collection", writes(operator_writes.owner_of_a_source)
    ),
    f"{OPERATOR} patch destinations.onair.dev in {SHOWS}": Need(
        "a destination is not deleted with its project", writes(operator_writes.owner_of_a_destination)
    ),
    f"{OPERATOR} patch layouts.onair.dev in {SHOWS}": Need(
        "a layout is not deleted with its project", writes(operator_writes.owner_of_a_layout)
    ),
    COLLECTION_STATUS: Need("no collection is accepted", writes(operator_writes.status_of_a_collection)),
    PROJECT_STATUS: Need("no show comes on air", writes(operator_writes.pod_of_a_show)),
    f"{OPERATOR} patch sources.onair.dev/status in {SHOWS}": Need(
        "nobody sees whether a source is connected", writes(operator_writes.status_of_a_source)
    ),
    f"{OPERATOR} patch destinations.onair.dev/status in {SHOWS}": Need(
        "nobody sees whether media flows to a destination", writes(operator_writes.status_of_a_destination)
    ),
    f"{OPERATOR} create pods in {SHOWS}": Need("no show comes on air", operator_writes.refused_pod),
    f"{OPERATOR} delete pods in {SHOWS}": Need("encoders stay", operator_writes.LEFT_POD),
    f"{OPERATOR} create secrets in {SHOWS}": Need(
        "sources get no key, and encoders no identity", writes(operator_writes.key_of_a_source)
    ),
    f"{OPERATOR} patch secrets in {SHOWS}": Need(
        "a stream key is not deleted with its destination", writes(operator_writes.owner_of_credentials)
    ),
    f"{OPERATOR} delete secrets in {SHOWS}": Need("identities stay", operator_writes.LEFT_IDENTITY),
    f"{OPERATOR} create events in {SHOWS}": Need("nobody is told anything", events.nothing_is_told),
    f"{OPERATOR} patch events in {SHOWS}": Need(
        "what repeats looks as if it happened once", events.repetitions_are_not_counted
    ),
}
READS = {
    f"{OPERATOR} get collections.onair.dev in {SHOWS}": Need(
        LATE, conflict("collections", lambda on: on.collection(), COLLECTION_STATUS)
    ),
    f"{OPERATOR} get projects.onair.dev in {SHOWS}": Need(
        LATE, conflict("projects", lambda on: on.project(), PROJECT_STATUS)
    ),
    f"{OPERATOR} get sources.onair.dev in {SHOWS}": Need(
        "keys of sources that never came to be stay", unused_credentials(SOURCE_LABEL)
    ),
    f"{OPERATOR} get destinations.onair.dev in {SHOWS}": Need(
        "stream keys that were replaced stay", unused_credentials(DESTINATION_LABEL)
    ),
    f"{OPERATOR} get secrets in {SHOWS}": Need(
        "a show whose pod was refused once never comes on air", operator_reads.pod_that_was_refused_once
    ),
    f"{OPERATOR} get pods in {SHOWS}": Need(
        "a show whose pod's creation had no response says that it has none",
        operator_reads.pod_of_a_lost_response,
    ),
    f"{OPERATOR} get secrets/my-rooms in {NAMESPACE}": Need(
        "no room opens", rooms.room_that_does_not_open("my-rooms")
    ),
}
INGEST_AND_NODES = {
    f"{OPERATOR} get services/onair-ingest in {NAMESPACE}": Need(SENT_ON, ingest_addresses.node_that_moves),
    f"{OPERATOR} get services/onair-ingest-north in {NAMESPACE}": Need(
        "publishers of the region get no address", ingest_addresses.load_balancer("onair-ingest-north")
    ),
    f"{OPERATOR} get nodes": Need(SENT_ON, ingest_addresses.node_that_moves),
    f"{OPERATOR} get configmaps/{ADDRESSES_CONFIG_MAP} in {NAMESPACE}": Need(
        SENT_ON, ingest_addresses.node_that_moves
    ),
    f"{OPERATOR} patch configmaps/{ADDRESSES_CONFIG_MAP} in {NAMESPACE}": Need(
        SENT_ON, ingest_addresses.node_that_moves
    ),
    f"{OPERATOR} create configmaps in {NAMESPACE}": Need(
        "facades show sources without an address", ingest_addresses.kept_nowhere
    ),
    f"{OPERATOR} list leases.coordination.k8s.io in kube-node-lease": Need(
        "a show stays on a node that is dead", nodes.dead_node
    ),
    **{
        f"{OPERATOR} {verb} pods/{pod} in {NAMESPACE}": Need(
            "publishers have nowhere to go until somebody deletes the pod", nodes.ingest_of_a_dead_node(pod)
        )
        for pod in ("onair-ingest-0", "onair-ingest-1", "onair-ingest-north-0")
        for verb in ("get", "delete")
    },
    "onair-sandbox patch nodes": Need("no node is fit for encoders", nodes.unlabelled_node),
}
LAST = f"{OPERATOR} get namespaces/{SHOWS}"
"""To be tried after all others, as the show namespace is deleted."""
DELETED_NAMESPACE = {LAST: Need("a namespace that is deleted stays", deleted_namespace.projects_stay)}


def _of_kind(plural: str) -> dict[str, Need]:
    """The facade's rights to resources of a kind."""
    kind, id_ = facade.KINDS[plural]
    needs = {
        "get": Need(
            "what another replica has just made is an error", facade.operation(f"Get{kind}", unknown=id_)
        ),
        "list": Need(NOT_READY, facade.start(kind)),
        "watch": Need("what kubectl has changed is not shown", facade.late(plural)),
        "create": Need("none can be made", facade.operation(f"Create{kind}")),
        "patch": Need("none can be changed", facade.operation(f"Update{kind}")),
        "delete": Need("none can be deleted", facade.operation(f"Delete{kind}")),
    }
    return {f"{API} {verb} {plural}.onair.dev in {SHOWS}": need for verb, need in needs.items()}


def _of_keys(namespace: str) -> dict[str, Need]:
    """Those to Secrets where keys are."""
    needs = {
        "get": Need("a token of a deleted API key is an error", facade.token_of_an_unknown_api_key),
        "list": Need(NOT_READY, facade.start("SigningKey", "RendererKey", "ApiKey")),
        "watch": Need("a new API key admits nobody", facade.late_api_key),
        "create": Need("a new installation signs no token", facade.first_signing_key),
    }
    return {f"{API} {verb} secrets in {namespace}": need for verb, need in needs.items()}


FACADE = {
    **_of_kind("collections"),
    **_of_kind("projects"),
    **_of_kind("sources"),
    **_of_kind("destinations"),
    **_of_kind("layouts"),
    f"{API} get secrets in {SHOWS}": Need(
        "a guest code that another replica has just made is an error",
        facade.operation("GetGuestCode", unknown="code"),
    ),
    f"{API} list secrets in {SHOWS}": Need(
        NOT_READY, facade.start("Credentials", "RevokedToken", "GuestCode")
    ),
    f"{API} watch secrets in {SHOWS}": Need("a deleted guest code goes on", facade.late_deletion),
    f"{API} create secrets in {SHOWS}": Need("nobody is invited", facade.operation("CreateGuestCode")),
    f"{API} delete secrets in {SHOWS}": Need("no guest code is deleted", facade.operation("DeleteGuestCode")),
    f"{API} get pods in {SHOWS}": Need("there is no snapshot", facade.snapshot),
    **_of_keys(KEYS),
    **_of_keys(NAMESPACE),
    f"{API} get secrets/onair-ingest in {NAMESPACE}": Need("there is no preview by HLS", facade.hls_preview),
    f"{API} get secrets/onair-rooms in {NAMESPACE}": Need(
        "nobody joins a room", facade.joining("onair-rooms")
    ),
    f"{API} get secrets/my-rooms in {NAMESPACE}": Need("nobody joins a room", facade.joining("my-rooms")),
    f"{API} list configmaps/{ADDRESSES_CONFIG_MAP} in {NAMESPACE}": Need(
        NOT_READY, facade.start("IngestAddresses")
    ),
    f"{API} watch configmaps/{ADDRESSES_CONFIG_MAP} in {NAMESPACE}": Need(
        "sources are shown with addresses of before", facade.late_addresses
    ),
}
NEEDS = {**STARTS, **WATCHES, **WRITES, **READS, **INGEST_AND_NODES, **FACADE, **DELETED_NAMESPACE}
