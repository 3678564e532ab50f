"""What an operator does not notice whose watch of a kind is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.support.rights.installation import Installation
from tests.support.rights.need import Scenario
from tests.support.rights.objects import NODES, pod_of, wait

IsNoticed = Callable[[], object]
Happening = Callable[[Installation], Callable[[], IsNoticed]]
"""Prepares, and gives what lets it happen; that gives whether the operator has noticed."""


def unseen(happening: Happening) -> Scenario:
    """Something happens, and something else after it, which is noticed."""

    def scenario(installation: Installation) -> Iterator[None]:
        installation.operate()
        let_happen = happening(installation)
        yield
        installation.break_watches()
        is_noticed = let_happen()
        # Of a kind of its own each, as one of both watches may be away
        collection, destination = installation.collection(), installation.destination("nothing")

        def later_is_noticed() -> bool:
            seen = installation.status("collections", collection)
            return bool(seen or installation.status("destinations", destination))

        wait("what comes later is noticed", later_is_noticed)
        assert not is_noticed()
        yield
        wait("it is noticed", is_noticed)

    return scenario


def collection_comes(installation: Installation) -> Callable[[], IsNoticed]:
    def let_happen() -> IsNoticed:
        name = installation.collection()
        return lambda: installation.status("collections", name)

    return let_happen


def project_comes(installation: Installation) -> Callable[[], IsNoticed]:
    def let_happen() -> IsNoticed:
        name = installation.show()
        return lambda: installation.exists(pod_of(name))

    return let_happen


def source_comes(installation: Installation) -> Callable[[], IsNoticed]:
    def let_happen() -> IsNoticed:
        name = installation.source()
        return lambda: installation.status("sources", name)

    return let_happen


def destination_comes(installation: Installation) -> Callable[[], IsNoticed]:
    def let_happen() -> IsNoticed:
        name = installation.destination("nothing")
        return lambda: installation.status("destinations", name)

    return let_happen


def layout_comes(installation: Installation) -> Callable[[], IsNoticed]:
    project = installation.project()
    wait("the project is known", lambda: installation.status("projects", project))

    def let_happen() -> IsNoticed:
        path = installation.resources.path("layouts", installation.layout(project))
        return lambda: installation.owners(path) == [project]

    return let_happen


def pod_goes(installation: Installation) -> Callable[[], IsNoticed]:
    show = installation.show()
    wait("its encoder is known", lambda: installation.broadcast(show).get("encoder"))

    def let_happen() -> IsNoticed:
        installation.delete(pod_of(show))
        return lambda: installation.exists(pod_of(show, epoch=2))

    return let_happen


def secret_comes(installation: Installation) -> Callable[[], IsNoticed]:
    secret = installation.name("credentials")
    name = installation.destination(installation.project(), secret)

    def said(reason: str) -> bool:
        return installation.ready("destinations", name)[0] == reason

    wait("it is missed", lambda: said("SecretNotFound"))

    def let_happen() -> IsNoticed:
        installation.credentials(secret)
        return lambda: said("NotRunning")

    return let_happen


def node_comes(installation: Installation) -> Callable[[], IsNoticed]:
    label = installation.sandbox_label
    for each in installation.listed(NODES, labelSelector=label):
        installation.delete(f"{NODES}/{each['metadata']['name']}")
    show = installation.show()
    wait("its pod is there", lambda: installation.exists(pod_of(show)))
    refused = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}
    installation.patch(f"{pod_of(show)}/status", status={"conditions": [refused]})

    def no_node_is_fit() -> bool:
        return f"no node has the label {label}" in installation.ready("projects", show)[1]

    wait("it says why it has no node", no_node_is_fit)

    def let_happen() -> IsNoticed:
        metadata = {"name": installation.name("node"), "labels": {label: "installed"}}
        installation.create(NODES, metadata=metadata)
        return lambda: not no_node_is_fit()

    return let_happen
