"""Rights that a chart's Roles grant, beside the requests that an API server's audit log tells of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from onair_crds.shapes import Document


@dataclass(frozen=True)
class Right:
    """One verb on one resource, or on one object of it."""

    user: str
    namespace: str
    """Empty: in all of them."""
    group: str
    resource: str
    verb: str
    name: str
    """Empty: whatever the name."""

    def admits(self, request: Request) -> bool:
        wanted = (request.user, request.group, request.resource, request.verb)
        return (
            wanted == (self.user, self.group, self.resource, self.verb)
            and self.namespace in ("", request.namespace)
            and self.name in ("", request.name)
        )


@dataclass(frozen=True)
class Request:
    """What a user asked of the API server."""

    user: str
    namespace: str
    group: str
    resource: str
    """With the subresource, as `projects/status`."""
    verb: str
    name: str
    refused: bool
    """For want of a right."""


def granted(objects: list[Document]) -> set[Right]:
    """What the bindings among these objects give to service accounts."""
    roles = {_place(each): each["rules"] for each in objects if each["kind"] in ("Role", "ClusterRole")}
    found: set[Right] = set()
    for binding in objects:
        if binding["kind"] in ("RoleBinding", "ClusterRoleBinding"):
            namespace = binding["metadata"].get("namespace", "")
            kind, name = binding["roleRef"]["kind"], binding["roleRef"]["name"]
            rules = roles[kind, namespace if kind == "Role" else "", name]
            for subject in binding["subjects"]:
                user = f"system:serviceaccount:{subject['namespace']}:{subject['name']}"
                found |= set(_rights(user, namespace, rules))
    return found


def _place(role: Document) -> tuple[str, str, str]:
    return role["kind"], role["metadata"].get("namespace", ""), role["metadata"]["name"]


def _rights(user: str, namespace: str, rules: Iterable[Document]) -> Iterator[Right]:
    for rule in rules:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    for name in rule.get("resourceNames") or [""]:
                        yield Right(user, namespace, group, resource, verb, name)


def requests(audit_log: Path, since: int = 0) -> set[Request]:
    """Requests for resources, from a byte of the log on; a line that is being written is left for later."""
    found = set()
    with audit_log.open("rb") as log:
        log.seek(since)
        lines = log.read().decode().splitlines(keepends=True)
    for line in lines:
        event: Document = json.loads(line) if line.endswith("\n") else {}
        if target := event.get("objectRef"):
            parts = (target["resource"], target.get("subresource"))
            found.add(
                Request(
                    event["user"]["username"],
                    target.get("namespace", ""),
                    target.get("apiGroup", ""),
                    "/".join(part for part in parts if part),
                    event["verb"],
                    target.get("name", ""),
                    event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid",
                )
            )
    return found


def unused(rights: Iterable[Right], asked: Iterable[Request]) -> list[Right]:
    """The rights that no request has needed."""
    seen = [request for request in asked if not request.refused]
    return sorted(
        (right for right in rights if not any(right.admits(each) for each in seen)),
        key=lambda right: (right.user, right.namespace, right.resource, right.verb, right.name),
    )
