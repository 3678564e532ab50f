"""Gathers one project and all that affects it."""

from __future__ import annotations

from collections.abc import Iterator

import structlog

from onair_crds.contract.labels import (
    IDENTITY_TYPE,
    REGION_LABEL,
    SANDBOX_INSTALLED,
    SANDBOX_LABEL_PREFIX,
    ZONE_LABEL,
)
from onair_crds.contract.pod import CERTIFICATE
from onair_crds.contract.program import ProgramSource
from onair_crds.contract.rooms import room_name
from onair_crds.kube.store import Entry, Store
from onair_crds.resources.collection import Collection
from onair_crds.resources.destination import Destination
from onair_crds.resources.enums import ConnectState
from onair_crds.resources.layout import Layout
from onair_crds.resources.project import Project
from onair_crds.resources.source import SourceStatus
from onair_operator.cluster.claimed_streams import Claimant
from onair_operator.cluster.read_parts import source_status_of
from onair_operator.cluster.watched_kinds import (
    BY_DESTINATION,
    BY_PROJECT,
    COLLECTION,
    DESTINATION,
    LAYOUT,
    NODE,
    POD,
    PROJECT,
    SECRET,
    SOURCE,
)
from onair_operator.cluster.world import World
from onair_operator.destination.stored_destination import read_destination
from onair_operator.encoder.observed import PodView
from onair_operator.ingest.shown_previews import ShownSource
from onair_operator.project.observed import NodeView, ObservedProject
from onair_operator.project.run_quotas import used_up
from onair_operator.project.stored_project import read_project
from onair_operator.project.triggers import acting, may_start
from onair_operator.scene.observe import observe as observe_scene
from onair_operator.secret.observed import SecretView

log = structlog.get_logger()


def observe(world: World, name: str) -> ObservedProject | None:
    """The project and its surroundings as known now; None if there is no such project."""
    store = world.store
    entry = store.entry(PROJECT, name)
    if entry is None:
        return None
    stored = read_project(entry, world.valid_specs.get(entry.uid))
    project = stored.project
    if stored.invalid is None:
        world.valid_specs[entry.uid] = project.spec
    collection = store.entry(COLLECTION, project.spec.collection_id)
    read = [read_destination(each) for each in store.select(DESTINATION, BY_PROJECT, name)]
    destinations = tuple(each.destination for each in read if each.invalid is None)
    pods = tuple(PodView.of(e.document) for e in store.select(POD, BY_PROJECT, name))
    trigger_sources = _trigger_sources(store, project)
    return ObservedProject(
        project=project,
        streams=world.streams.of(name),
        rivals={
            destination: _rival(store, project, rival)
            for destination, rival in world.streams.rivals(name).items()
        },
        rivals_known_in_s=world.streams.settling_s,
        invalid=stored.invalid,
        defaulted=stored.defaulted,
        collection=collection.head(Collection) if collection else None,
        service_id=_service_id(collection),
        page_token=_page_token(world, project, collection),
        destinations=destinations,
        invalid_destinations=tuple(each for each in read if each.invalid is not None),
        layouts=tuple(e.head(Layout) for e in store.select(LAYOUT, BY_PROJECT, name)),
        pods=pods,
        certificates=_certificates(store, pods),
        identities=_identities(store, name),
        secrets=_secrets(store, destinations),
        nodes={pod.node: _node(store, pod.node) for pod in pods if pod.node},
        regions=_regions(store) if any(pod.unschedulable for pod in pods) else None,
        sandboxes=_sandboxes(store) if any(pod.unschedulable for pod in pods) else None,
        encoders=world.fleet.views([pod.uid for pod in pods]),
        dead_nodes=world.nodes.dead,
        refusal=world.refusals.get(name),
        rtc_providers=world.rtc_providers.known(),
        receivers=tuple(world.receivers),
        used_up=used_up(world, entry) if may_start(project, trigger_sources) else None,
        rooms_available=world.rooms.available,
        room_server=world.rooms.access,
        room=world.rooms.view(room_name(project.uid)),
        room_kept=world.rooms.kept(room_name(project.uid)),
        trigger_sources=trigger_sources,
        previewed=tuple(_previewed(store, project)),
        shown=world.gateways.shown_previews(room_name(project.uid)),
        program_sources=tuple(_program_sources(world, project)),
        sources_withheld=any(
            world.gateways.lacks_secret(gateway) for _, gateway, _ in _received(world.store, project)
        ),
        scene=observe_scene(store, project),
    )


def _rival(store: Store, project: Project, rival: Claimant) -> str:
    """Names only what is of the same collection: others may be of somebody else."""
    other = store.entry(PROJECT, rival.project)
    if other and other.spec.get("collectionId") == project.spec.collection_id:
        return f"destination {rival.destination} of project {rival.project}"
    return "a destination of another collection"


def _service_id(collection: Entry | None) -> str:
    owner = collection.spec.get("owner") if collection else None
    return str(owner.get("serviceId", "")) if owner else ""


def _page_token(world: World, project: Project, collection: Entry | None) -> str | None:
    owner = collection.spec.get("owner") if collection else None
    return world.page_tokens.of(project, str(owner.get("serviceId"))) if world.page_tokens and owner else None


def _trigger_sources(store: Store, project: Project) -> dict[str, SourceStatus]:
    entries = (store.entry(SOURCE, name) for name, _ in acting(project.spec.sources))
    return {
        entry.name: source_status_of(entry)
        for entry in entries
        if entry and entry.spec.get("collectionId") == project.spec.collection_id
    }


def _previewed(store: Store, project: Project) -> Iterator[ShownSource]:
    for source_id in sorted({each.source_id for each in project.spec.sources}):
        entry = store.entry(SOURCE, source_id)
        if entry is None or entry.deleting or entry.spec.get("collectionId") != project.spec.collection_id:
            continue
        given = (entry.spec.get("preview") or {}).get("webrtc")
        if given is None or given.get("enabled") is False:
            continue
        status = source_status_of(entry)
        # While its gateway cannot be reached nothing can be changed there either.
        present = status.connect is ConnectState.CONNECTED or status.unknown
        if present and status.gateway and status.stream:
            name = given.get("displayName") or source_id
            yield ShownSource(source_id, status.gateway, status.stream, name)


def _program_sources(world: World, project: Project) -> Iterator[ProgramSource]:
    for name, gateway, stream in _received(world.store, project):
        source = world.gateways.program_source(name, gateway, stream)
        yield from [source] if source else []


def _received(store: Store, project: Project) -> Iterator[tuple[str, str, str]]:
    """Name, gateway and stream of each source that a gateway has or had."""
    for shown in project.spec.sources:
        entry = store.entry(SOURCE, shown.source_id)
        if entry and entry.spec.get("collectionId") == project.spec.collection_id:
            status = source_status_of(entry)
            if status.gateway and status.stream:
                yield entry.name, status.gateway, status.stream


def _certificates(store: Store, pods: tuple[PodView, ...]) -> dict[str, str]:
    """A pod's identity has the pod's name."""
    identities = {pod.uid: store.entry(SECRET, pod.name) for pod in pods}
    values = {uid: SecretView.of(e).value(CERTIFICATE) for uid, e in identities.items() if e}
    return {uid: value for uid, value in values.items() if value}


def _identities(store: Store, project: str) -> dict[str, str]:
    entries = store.select(SECRET, BY_PROJECT, project)
    return {entry.name: entry.uid for entry in entries if entry.document.get("type") == IDENTITY_TYPE}


def _secrets(store: Store, destinations: tuple[Destination, ...]) -> dict[str, SecretView]:
    """Those that the destinations refer to, and those that were made for them."""
    entries = [e for d in destinations for e in store.select(SECRET, BY_DESTINATION, d.name)]
    names = {name for d in destinations for name in d.secret_names}
    entries += [entry for name in names if (entry := store.entry(SECRET, name))]
    return {view.name: view for view in (SecretView.of(entry) for entry in entries)}


def _regions(store: Store) -> frozenset[str] | None:
    """Of all nodes; None while none is known."""
    nodes = store.entries(NODE)
    return frozenset(node.labels[REGION_LABEL] for node in nodes if REGION_LABEL in node.labels) or None


def _sandboxes(store: Store) -> frozenset[str]:
    """Of all nodes."""
    labels = (item for node in store.entries(NODE) for item in node.labels.items())
    return frozenset(
        label
        for label, value in labels
        if label.startswith(SANDBOX_LABEL_PREFIX) and value == SANDBOX_INSTALLED
    )


def _node(store: Store, name: str) -> NodeView:
    entry = store.entry(NODE, name)
    labels = entry.labels if entry else {}
    return NodeView(region=labels.get(REGION_LABEL), zone=labels.get(ZONE_LABEL))
