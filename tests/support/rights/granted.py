"""Rights that a chart's Roles grant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.support.helm import NAMESPACE

from onair_crds.shapes import Document

PLURALS = {
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
}
SUBRESOURCES = {"exec", "status"}
RBAC = "/apis/rbac.authorization.k8s.io/v1"


@dataclass(frozen=True)
class Right:
    """One verb on one resource, or on one object of it."""

    user: str
    namespace: str
    """Empty: in all of them."""
    group: str
    resource: str
    """With the subresource, as `projects/status`."""
    verb: str
    name: str
    """Empty: whatever the name."""

    def __str__(self) -> str:
        """As `onair-operator patch projects.onair.dev/status in shows`; of all namespaces without one."""
        account = self.user.rpartition(":")[2]
        resource, _, subresource = self.resource.partition("/")
        parts = (f"{resource}.{self.group}" if self.group else resource, subresource, self.name)
        target = "/".join(part for part in parts if part)
        return f"{account} {self.verb} {target}" + (f" in {self.namespace}" if self.namespace else "")

    @classmethod
    def named(cls, text: str) -> Right:
        """The right of an account of the release that a text names, as above."""
        words, _, namespace = text.partition(" in ")
        account, verb, target = words.split(" ")
        resource, _, part = target.partition("/")
        plural, _, group = resource.partition(".")
        is_subresource = part in SUBRESOURCES
        return cls(
            f"system:serviceaccount:{NAMESPACE}:{account}",
            namespace,
            group,
            f"{plural}/{part}" if is_subresource else plural,
            verb,
            "" if is_subresource else part,
        )

    @property
    def rule(self) -> Document:
        """The rule of a Role that gives this and nothing else."""
        names = {"resourceNames": [self.name]} if self.name else {}
        return {"apiGroups": [self.group], "resources": [self.resource], "verbs": [self.verb], **names}

    def covers(self, other: Right) -> bool:
        """Whether who has this needs not be given the other."""
        same = (self.user, self.group, self.resource, self.verb)
        return (
            same == (other.user, other.group, other.resource, other.verb)
            and self.namespace in ("", other.namespace)
            and self.name in ("", other.name)
        )


def granted_by_role(objects: list[Document]) -> dict[str, set[Right]]:
    """What bindings among these objects give to service accounts, by the path of its Role."""
    roles = {_place(each): each for each in objects if each["kind"] in ("Role", "ClusterRole")}
    found: dict[str, set[Right]] = {path_of(each): set() for each in roles.values()}
    for binding in objects:
        if binding["kind"] in ("RoleBinding", "ClusterRoleBinding"):
            namespace = binding["metadata"].get("namespace", "")
            kind, name = binding["roleRef"]["kind"], binding["roleRef"]["name"]
            role = roles[kind, namespace if kind == "Role" else "", name]
            for subject in binding["subjects"]:
                user = f"system:serviceaccount:{subject['namespace']}:{subject['name']}"
                found[path_of(role)] |= set(_rights(user, namespace, role["rules"]))
    return found


def granted(objects: list[Document]) -> set[Right]:
    """What all bindings among these objects give to service accounts."""
    return set().union(*granted_by_role(objects).values())


def roles_of(objects: list[Document]) -> dict[str, Document]:
    """Roles and their bindings, by their paths."""
    return {path_of(each): each for each in objects if each["kind"] in PLURALS}


def path_of(document: Document) -> str:
    """Of a Role or a binding."""
    metadata = document["metadata"]
    place = f"/namespaces/{metadata['namespace']}" if metadata.get("namespace") else ""
    return f"{RBAC}{place}/{PLURALS[document['kind']]}/{metadata['name']}"


def _place(role: Document) -> tuple[str, str, str]:
    return role["kind"], role["metadata"].get("namespace", ""), role["metadata"]["name"]


def _rights(user: str, namespace: str, rules: Iterable[Document]) -> Iterator[Right]:
    for rule in rules:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    for name in rule.get("resourceNames") or [""]:
                        yield Right(user, namespace, group, resource, verb, name)
