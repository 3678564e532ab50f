"""Gathers one project and all that bears on it from the store."""

from __future__ import annotations

from collections.abc import Mapping

from onair_crds.resources.destination import Destination
from onair_crds.resources.project import Project
from onair_operator.fleet import Fleet
from onair_operator.observed import NodeView, Observed, PodView, SecretView
from onair_operator.placement import REGION_LABEL, ZONE_LABEL
from onair_operator.plan import referenced_secrets
from onair_operator.rtc_providers import RtcProvider
from onair_operator.store import Store


def observe(
    store: Store,
    fleet: Fleet,
    name: str,
    dead_nodes: frozenset[str],
    rtc_providers: Mapping[str, RtcProvider],
) -> Observed | None:
    """The project and its surroundings as known now; None where there is no such project."""
    entry = store.get("Project", name)
    if entry is None:
        return None
    project: Project = entry.model
    collection = store.get("Collection", project.spec.collection_id)
    destinations = tuple(e.model for e in store.of_project("Destination", name))
    pods = tuple(PodView.of(e.document) for e in store.of_project("Pod", name))
    return Observed(
        project=project,
        collection=collection.model if collection else None,
        destinations=destinations,
        layouts=tuple(e.model for e in store.of_project("Layout", name)),
        pods=pods,
        secrets=_secrets(store, destinations),
        nodes={pod.node: _node(store, pod.node) for pod in pods if pod.node},
        encoders=fleet.views([pod.uid for pod in pods]),
        dead_nodes=dead_nodes,
        rtc_providers=rtc_providers,
    )


def _secrets(store: Store, destinations: tuple[Destination, ...]) -> dict[str, SecretView]:
    """Those that the destinations refer to, and those that were made for them."""
    entries = [e for d in destinations for e in store.of_destination("Secret", d.name)]
    named = {name for d in destinations for name in referenced_secrets(d)}
    entries += [entry for name in named if (entry := store.get("Secret", name))]
    return {view.name: view for view in (SecretView.of(entry.document) for entry in entries)}


def _node(store: Store, name: str) -> NodeView:
    entry = store.get("Node", name)
    labels = (entry.document["metadata"].get("labels") or {}) if entry else {}
    return NodeView(region=labels.get(REGION_LABEL), zone=labels.get(ZONE_LABEL))


def follow_encoders(store: Store, fleet: Fleet, observed: Observed) -> None:
    """Follows the claimed pod of a run and no other of the project's."""
    broadcast = observed.broadcast
    claimed = observed.claimed_pod(broadcast) if broadcast else None
    for pod in observed.pods:
        if pod is not claimed or pod.gone:
            fleet.drop(pod.uid)
    if claimed and not claimed.gone and claimed.ip:
        identity = store.get("Secret", claimed.name)
        if identity:
            certificate = SecretView.of(identity.document).value("tls.crt")
            if certificate:
                fleet.follow(observed.project.name, claimed, certificate)
