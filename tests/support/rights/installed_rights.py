"""Rights of an installation, of which one can be taken away for a while."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from tests.support.rights.audit_log import AuditLog, Request
from tests.support.rights.granted import Right, granted_by_role
from tests.support.rights.objects import MERGE_PATCH
from tests.support.waiting import wait_for

from onair_crds.shapes import Document


class InstalledRights:
    def __init__(self, admin: httpx.Client, log: AuditLog, shows: str, objects: list[Document]) -> None:
        """
        Args:
            objects: those of the chart as they are installed.
        """
        self._admin, self._log, self._shows = admin, log, shows
        self._by_role = granted_by_role(objects)
        self._taken: set[Right] = set()
        self._absences: list[tuple[Right, dt.datetime, dt.datetime]] = []
        self._began = dt.datetime.now(dt.UTC)

    def named(self, text: str) -> Right:
        (found,) = [each for rights in self._by_role.values() for each in rights if str(each) == text]
        return found

    @contextmanager
    def without(self, right: Right) -> Iterator[None]:
        """Takes a right away and gives it back; the API server has noticed either when this goes on."""
        since = dt.datetime.now(dt.UTC)
        self._taken.add(right)
        try:
            self._write(right)
            yield
        finally:
            self._taken.remove(right)
            self._write(right)
            self._absences.append((right, since, dt.datetime.now(dt.UTC)))

    def missed(self) -> list[Request]:
        """Requests that were refused though no right was away that they need."""
        refused = [each for each in self._log.since(self._began) if each.refused]
        return [
            each
            for each in refused
            if not any(
                each.needs(right) and since <= each.received <= until
                for right, since, until in self._absences
            )
        ]

    def _write(self, right: Right) -> None:
        (role,) = [path for path, rights in self._by_role.items() if right in rights]
        rules = [each.rule for each in sorted(self._by_role[role] - self._taken, key=str)]
        body = {"rules": rules}
        self._admin.patch(role, json=body, headers=MERGE_PATCH).raise_for_status()
        wanted = right not in self._taken
        text = "is there again" if wanted else "is away; does another Role give it, too?"
        wait_for(lambda: is_allowed(self._admin, right, self._shows) is wanted, f"{right} {text}")


def is_allowed(admin: httpx.Client, right: Right, elsewhere: str = "") -> bool:
    """Whether the API server would let a user do what a right is to give.

    Args:
        elsewhere: a namespace to try where it is given in all of them.
    """
    resource, _, subresource = right.resource.partition("/")
    attributes = {
        "verb": right.verb,
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "name": right.name,
        "namespace": right.namespace or elsewhere,
    }
    groups = ["system:serviceaccounts", "system:authenticated"]
    spec = {"user": right.user, "groups": groups, "resourceAttributes": attributes}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    review = admin.post(path, json={"spec": spec}).raise_for_status().json()
    return bool(review["status"]["allowed"])
