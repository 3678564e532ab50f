"""Which rights come and go with the chart's values: those beside what is on by default, and no others.

That what comes is needed, and what goes is not missed, is shown in test_rbac.py.
"""

from __future__ import annotations

import re

import pytest
from tests.support.helm import CHART, KEYS, NAMESPACE, render
from tests.support.rights.granted import granted
from tests.support.rights.values import EVERYTHING, EXISTING, SMALLEST

OPERATOR, API = "onair-operator", "onair-api"
EXISTING_INGEST = (
    "ingest.existing.apiUrl=http://a,ingest.existing.rtmpUrl=rtmp://a,ingest.existing.secret.name=a"
)
INGEST_URLS = "ingest.rtmp.baseUrl=rtmp://a/live,ingest.srt.baseUrl=srt://a:8890"
ROOM_SECRET = {f"{each} get secrets/onair-rooms in {NAMESPACE}" for each in (OPERATOR, API)}
OTHER_ROOM_SECRET = {f"{each} get secrets/my-rooms in {NAMESPACE}" for each in (OPERATOR, API)}
SANDBOX = {"onair-sandbox patch nodes"}
FOUND = {
    f"{OPERATOR} get services/onair-ingest in {NAMESPACE}",
    f"{OPERATOR} create configmaps in {NAMESPACE}",
    f"{OPERATOR} get configmaps/onair-ingest-addresses in {NAMESPACE}",
    f"{OPERATOR} patch configmaps/onair-ingest-addresses in {NAMESPACE}",
}
"""Where publishers reach ingest is looked for."""
KEYS_APART = {
    *(f"{API} {verb} secrets in {KEYS}" for verb in ("get", "list", "watch", "create")),
    f"{API} get secrets/onair-ingest in {NAMESPACE}",
    f"{API} get secrets/onair-rooms in {NAMESPACE}",
    f"{OPERATOR} create secrets in {KEYS}",
    *(f"{OPERATOR} {verb} secrets/onair-renderer-signing in {KEYS}" for verb in ("get", "delete")),
}
KEYS_TOGETHER = {f"{API} {verb} secrets in {NAMESPACE}" for verb in ("get", "list", "watch", "create")}
NONE: set[str] = set()


def ingest_pod(number: int) -> set[str]:
    """To find out whether it is to be deleted, and to do so where its node does not."""
    return {f"{OPERATOR} {verb} pods/onair-ingest-{number} in {NAMESPACE}" for verb in ("get", "delete")}


BY_VALUE = [
    # values, what they bring beside the default, and what they take
    ("keysNamespace.name=", KEYS_TOGETHER, KEYS_APART),
    ("rooms.enabled=false", NONE, ROOM_SECRET),
    ("rooms.enabled=false,rooms.url=http://a,rooms.secret.name=my-rooms", OTHER_ROOM_SECRET, ROOM_SECRET),
    (
        "redis.enabled=false,redis.url=redis://a:6379",
        NONE,
        {f"{OPERATOR} get secrets/onair-redis in {NAMESPACE}"},
    ),
    ("mediamtx.enabled=false", NONE, {f"{OPERATOR} get secrets/onair-mediamtx in {NAMESPACE}"}),
    ("ingest.enabled=false", NONE, {f"{API} get secrets/onair-ingest in {NAMESPACE}", *ingest_pod(0)}),
    (
        "ingest.enabled=false,rooms.enabled=false",
        NONE,
        {f"{API} get secrets/onair-ingest in {NAMESPACE}", *ingest_pod(0), *ROOM_SECRET},
    ),
    ("ingest.replicas=2", ingest_pod(1), NONE),
    ("ingest.service.type=NodePort", FOUND | {f"{OPERATOR} get nodes"}, NONE),
    ("ingest.service.type=LoadBalancer", FOUND, NONE),
    (f"ingest.service.type=NodePort,{INGEST_URLS}", NONE, NONE),
    (f"ingest.service.type=NodePort,{EXISTING_INGEST},{INGEST_URLS}", NONE, NONE),
    ("encoder.sandbox.install=false", NONE, SANDBOX),
    ("encoder.sandbox.mode=none", NONE, SANDBOX),
    ("encoder.sandbox.mode=runtimeClass,encoder.sandbox.runtimeClassName=gvisor", NONE, SANDBOX),
    (
        (
            "showNamespace.tenants=true,networkPolicy.enabled=true,encoder.network.rules=false,"
            "demo.enabled=false,api.grpc.enabled=true,api.docs=false,operator.replicas=1,"
            "rooms.turn.enabled=true,rooms.turn.domain=a,rooms.turn.tlsSecret=a,redis.tls.secret=a,"
            "encoder.priorityClass.create=false"
        ),
        NONE,
        NONE,
    ),
]
CONDITIONS = {
    # Each is among the values above
    "$apart",
    "not $apart",
    'or .Values.ingest.enabled (include "onair.roomsUrl" . | trim)',
    ".Values.ingest.enabled",
    'include "onair.roomsUrl" . | trim',
    ".Values.redis.enabled",
    ".Values.mediamtx.enabled",
    '(include "onair.ingestServicesToFind" . | fromJson).services',
    (
        'and (include "onair.ingestServicesToFind" . | fromJson).services '
        '(eq .Values.ingest.service.type "NodePort")'
    ),
    "ne $keys .Release.Namespace",
    'and (eq $sandbox.mode "seccomp") $sandbox.install',
    "$i",  # a comma
}


def rights_of(*options: str) -> set[str]:
    return {str(each) for each in granted(render(*options))}


@pytest.mark.parametrize(("values", "more", "less"), BY_VALUE, ids=[each[0][:60] for each in BY_VALUE])
def test_values_bring_and_take_these_rights_alone(values: str, more: set[str], less: set[str]) -> None:
    default, found = rights_of(), rights_of("--set", values)
    assert (found - default, default - found) == (more, less)


def test_what_values_bring_is_of_an_installation_that_uses_it() -> None:
    tried = rights_of(*EVERYTHING) | rights_of(*SMALLEST) | rights_of(*EXISTING)
    assert set().union(*(more for _, more, _ in BY_VALUE)) <= tried


def test_what_values_take_is_not_of_the_smallest_installation() -> None:
    gone = set().union(*(less for _, _, less in BY_VALUE))
    assert gone & rights_of(*SMALLEST) == set()


BLOCK = re.compile(r"{{-? *(if|with|range|define|else if|end)\b *(.*?) *-?}}")


def conditions_of_roles(template: str) -> set[str]:
    """What Roles and their bindings in a template depend on, within them and around them."""
    found: set[str] = set()
    within: list[str] = []
    for document in re.split(r"^---$", template, flags=re.MULTILINE):
        first, *rest = BLOCK.split(document)
        conditions = {*within} if first.strip() else set()
        for keyword, condition, text in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
            if keyword in ("end", "else if"):
                within.pop()
            if keyword != "end":
                within.append("" if keyword in ("range", "define") else condition)
            conditions |= {*within} if text.strip() else set()
        if re.search(r"^kind: (Cluster)?Role(Binding)?$", document, re.MULTILINE):
            found |= conditions
    return found - {""}


def test_roles_depend_on_no_other_condition() -> None:
    templates = (CHART / "templates").glob("*.yaml")
    assert set().union(*(conditions_of_roles(each.read_text()) for each in templates)) == CONDITIONS


def secrets_of(account: str, namespace: str) -> set[tuple[str, str]]:
    """Verbs, and names or nothing."""
    return {
        (each.verb, each.name)
        for each in granted(render())
        if each.user.endswith(f":{account}") and each.resource == "secrets" and each.namespace == namespace
    }


def test_keys_apart_are_the_facades_alone_and_it_reads_no_other_secret_of_the_release() -> None:
    shared = {("get", "onair-ingest"), ("get", "onair-rooms")}
    assert secrets_of(API, NAMESPACE) == shared
    assert secrets_of(API, KEYS) == {(verb, "") for verb in ("get", "list", "watch", "create")}
    public = {("create", ""), ("get", "onair-renderer-signing"), ("delete", "onair-renderer-signing")}
    assert secrets_of(OPERATOR, KEYS) == public
    assert ("list", "") not in secrets_of(OPERATOR, NAMESPACE)
