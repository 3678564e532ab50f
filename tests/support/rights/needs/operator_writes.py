"""What an operator does not come to that may not write."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.support.rights.installation import Installation
from tests.support.rights.need import Scenario
from tests.support.rights.objects import SECRETS, identity_of, pod_of, wait

from onair_crds.contract.ingest import secret_name
from onair_crds.contract.labels import DESTINATION_LABEL

Wanted = tuple[str, Callable[[], object]]
"""An object on which people are warned, and whether all is as it is to be."""


def writes(make: Callable[[Installation], Wanted]) -> Scenario:
    """Something is made that it only warns of."""

    def scenario(installation: Installation) -> Iterator[None]:
        installation.operate()
        yield
        name, is_done = make(installation)
        wait("people are warned", lambda: installation.told(name, "Forbidden"))
        assert not is_done()
        yield
        wait("it is done", is_done)

    return scenario


def status_of_a_collection(installation: Installation) -> Wanted:
    name = installation.collection()
    return name, lambda: installation.status("collections", name)


def status_of_a_source(installation: Installation) -> Wanted:
    name = installation.source()
    return name, lambda: installation.status("sources", name)


def status_of_a_destination(installation: Installation) -> Wanted:
    project = installation.project()
    name = installation.destination(project)
    return project, lambda: installation.status("destinations", name)


def pod_of_a_show(installation: Installation) -> Wanted:
    name = installation.show()
    return name, lambda: installation.exists(pod_of(name))


def owner_of_a_source(installation: Installation) -> Wanted:
    collection = installation.collection()
    name = installation.source(collection)
    path = installation.resources.path("sources", name)
    return name, lambda: installation.owners(path) == [collection]


def owner_of_a_destination(installation: Installation) -> Wanted:
    project = installation.project()
    path = installation.resources.path("destinations", installation.destination(project))
    return project, lambda: installation.owners(path) == [project]


def owner_of_a_layout(installation: Installation) -> Wanted:
    project = installation.project()
    path = installation.resources.path("layouts", installation.layout(project))
    return project, lambda: installation.owners(path) == [project]


def owner_of_credentials(installation: Installation) -> Wanted:
    project, destination = installation.project(), installation.name("destination")
    secret = installation.credentials(labels={DESTINATION_LABEL: destination})
    installation.destination(project, secret, destination)
    return project, lambda: installation.owners(f"{SECRETS}/{secret}") == [destination]


def key_of_a_source(installation: Installation) -> Wanted:
    name = installation.source()
    return name, lambda: installation.exists(f"{SECRETS}/{secret_name(name)}")


def refused_pod(installation: Installation) -> Iterator[None]:
    """A show says why it has no pod."""
    installation.operate()
    yield
    show = installation.show()
    wait("it says why", lambda: installation.ready("projects", show)[0] == "PodRefused")
    assert not installation.exists(pod_of(show))
    yield
    wait("its pod is there", lambda: installation.exists(pod_of(show)))


def left(path_of: Callable[[str], str]) -> Scenario:
    """A show that ends leaves something behind."""

    def scenario(installation: Installation) -> Iterator[None]:
        installation.operate()
        show = installation.show()
        path = path_of(show)
        wait("its encoder is known", lambda: installation.broadcast(show).get("encoder"))
        assert installation.exists(path)
        yield
        installation.resources.patch("projects", show, {"spec": {"broadcast": {"state": "Stopped"}}})
        wait("people are warned", lambda: installation.told(show, "Forbidden"))
        assert installation.exists(path)
        yield
        wait("it is gone", lambda: not installation.exists(path))

    return scenario


LEFT_POD, LEFT_IDENTITY = left(pod_of), left(identity_of)
