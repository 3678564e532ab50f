"""What goes wrong where an operator may not read one object when it has to know better than its watch."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from tests.support.helm import SHOWS
from tests.support.rights.installation import Installation
from tests.support.rights.need import Scenario
from tests.support.rights.objects import PODS, SECRETS, identity_of, pod_of, wait

from onair_crds.contract.labels import DESTINATION_LABEL, claim_labels
from onair_crds.contract.owners import owner_reference
from onair_operator.project import plan as project_plan
from onair_operator.secret import plan as secret_plan

AT_ONCE = dt.timedelta(seconds=-1)


def conflict(plural: str, make: Callable[[Installation], str], status_right: str) -> Scenario:
    """A write that met a change which the watch is late to bring meets it again and again.

    Args:
        status_right: to write the status, which is away until the change has been made.
    """

    def scenario(installation: Installation) -> Iterator[None]:
        installation.operate()
        with ExitStack() as late, ExitStack() as unwritten:
            unwritten.enter_context(installation.without(status_right))
            name = make(installation)
            installation.wait_refused()
            late.enter_context(installation.late_watch(f"onair-operator watch {plural}.onair.dev in {SHOWS}"))
            change = {"metadata": {"annotations": {"changed": "meanwhile"}}}
            installation.resources.patch(plural, name, change)
            yield
            unwritten.close()
            installation.wait_refused(3)
            assert not installation.status(plural, name)
            yield
            wait("its status comes", lambda: installation.status(plural, name))

    return scenario


def unused_credentials(label: str) -> Scenario:
    """Credentials stay that nothing uses, as far as the watch has told."""

    def scenario(installation: Installation) -> Iterator[None]:
        installation.operate()
        is_of_destination = label == DESTINATION_LABEL
        made_for = installation.destination(installation.project()) if is_of_destination else "nothing"
        yield
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(project_plan, "UNUSED_SECRET_GRACE", AT_ONCE)
            patched.setattr(secret_plan, "GRACE", AT_ONCE)
            path = f"{SECRETS}/{installation.credentials(labels={label: made_for})}"
            installation.wait_refused(3)
            assert installation.exists(path)
            yield
            wait("they are gone", lambda: not installation.exists(path))

    return scenario


def pod_that_was_refused_once(installation: Installation) -> Iterator[None]:
    """A show stays off air, as its identity is there since the attempt before."""
    installation.operate()
    with ExitStack() as first:
        first.enter_context(installation.without(f"onair-operator create pods in {SHOWS}"))
        show = installation.show()
        wait("its pod was refused", lambda: installation.ready("projects", show)[0] == "PodRefused")
        assert installation.exists(identity_of(show))
        yield
        first.close()
        wait("it says why", lambda: "cannot get" in installation.ready("projects", show)[1])
        assert not installation.exists(pod_of(show))
        yield
    wait("its pod is there", lambda: installation.exists(pod_of(show)))


def pod_of_a_lost_response(installation: Installation) -> Iterator[None]:
    """A show has its pod, of which neither a response nor the watch has told, and says that it has none."""
    installation.operate()
    context = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    spec = {
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "a", "image": "a", "securityContext": context}],
    }
    show = installation.project()
    project_uid = installation.resources.get("projects", show)["metadata"]["uid"]
    with installation.late_watch(f"onair-operator watch pods in {SHOWS}"):
        owner = owner_reference("Project", show, project_uid)
        metadata = {
            "name": f"{show}-a-1",
            "labels": claim_labels(show, "a", 1),
            "ownerReferences": [owner],
        }
        installation.create(PODS, metadata=metadata, spec=spec)
        yield
        running = {"broadcast": {"state": "Running", "id": "a"}}
        installation.resources.patch("projects", show, {"spec": running})
        wait("it says so", lambda: "cannot get" in installation.ready("projects", show)[1])
        assert installation.ready("projects", show)[0] == "PodRefused"
        yield
        uid = installation.admin.get(pod_of(show)).raise_for_status().json()["metadata"]["uid"]
        wait("it has it", lambda: installation.broadcast(show).get("encoder") == uid)
