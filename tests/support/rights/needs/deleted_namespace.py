"""What keeps a namespace that is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tests.support.helm import SHOWS
from tests.support.rights.granted import RBAC
from tests.support.rights.installation import Installation
from tests.support.rights.objects import pod_of, wait

BINDING = f"{RBAC}/namespaces/{SHOWS}/rolebindings/onair-operator"


def projects_stay(installation: Installation) -> Iterator[None]:
    """Those that an operator has held, which has lost its Role there. Nothing can follow this."""
    installation.operate()
    held = [installation.show(), installation.show()]
    for show in held:
        wait("the operator holds it", partial(installation.exists, pod_of(show)))
    first, second = (installation.resources.path("projects", each) for each in held)
    # What the controller of namespaces does, in an order that it does not promise
    installation.delete(BINDING)
    installation.delete(first)
    wait("the operator lets it go", lambda: not installation.exists(first))
    installation.stop_operator()
    installation.delete(f"/api/v1/namespaces/{SHOWS}")
    installation.delete(second)
    yield
    installation.start_operator()
    installation.wait_refused(3)
    assert installation.exists(second)
    yield
    wait("one that comes later lets it go", lambda: not installation.exists(second))
