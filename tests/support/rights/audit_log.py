"""What programs have asked of an API server, by its audit log."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path

from tests.support.rights.granted import Right

from onair_crds.shapes import Document


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
    received: dt.datetime
    agent: str
    """What the client says of itself."""

    @property
    def by_kopf(self) -> bool:
        """Whether it is of the operator's watches."""
        return self.agent.startswith("kopf")

    def needs(self, right: Right) -> bool:
        """Whether this right would do, or does."""
        asked = Right(self.user, self.namespace, self.group, self.resource, self.verb, self.name)
        return right.covers(asked)


class AuditLog:
    """The requests of a log for resources; each line is read once."""

    def __init__(self, path: Path) -> None:
        self._path, self._offset = path, 0
        self._requests: list[Request] = []

    def requests(self) -> list[Request]:
        """All of them by now; a line that is being written is left for later."""
        with self._path.open("rb") as log:
            log.seek(self._offset)
            whole, newline, _ = log.read().rpartition(b"\n")
        self._offset += len(whole) + len(newline)
        events: list[Document] = [json.loads(line) for line in whole.splitlines()]
        self._requests += [_request(each) for each in events if "objectRef" in each]
        return self._requests

    def since(self, moment: dt.datetime) -> list[Request]:
        """Those that the API server was sent from a moment on."""
        return [each for each in self.requests() if each.received >= moment]


def _request(event: Document) -> Request:
    target = event["objectRef"]
    parts = (target["resource"], target.get("subresource"))
    return Request(
        event["user"]["username"],
        target.get("namespace", ""),
        target.get("apiGroup", ""),
        "/".join(part for part in parts if part),
        event["verb"],
        target.get("name", ""),
        event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid",
        dt.datetime.fromisoformat(event["requestReceivedTimestamp"]),
        event.get("userAgent", ""),
    )
