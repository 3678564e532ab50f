"""A Secret that a show may refer to, as it is known."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

from onair_crds.contract.labels import CREDENTIALS_TYPE, DESTINATION_LABEL
from onair_crds.contract.times import parse_time
from onair_crds.kube.store import Entry


@dataclass(frozen=True)
class SecretView:
    """A Secret. Its values are decoded on demand and never printed."""

    name: str
    uid: str
    type: str
    created: dt.datetime
    written: dt.datetime
    """When its values were given: when a writer of them last wrote."""
    owners: tuple[str, ...] = ()
    destination: str | None = None
    """The destination that it was made for."""
    data: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def allowed(self) -> bool:
        """Whether a show may refer to it."""
        return self.type == CREDENTIALS_TYPE

    def value(self, key: str) -> str | None:
        encoded = self.data.get(key)
        return None if encoded is None else base64.b64decode(encoded).decode(errors="replace")

    @classmethod
    def of(cls, entry: Entry) -> SecretView:
        document, metadata = entry.document, entry.metadata
        created = parse_time(metadata["creationTimestamp"])
        return cls(
            name=metadata["name"],
            uid=metadata["uid"],
            type=document.get("type", "Opaque"),
            created=created,
            written=parse_time(entry.data_written) if entry.data_written else created,
            owners=tuple(owner["uid"] for owner in metadata.get("ownerReferences", [])),
            destination=metadata.get("labels", {}).get(DESTINATION_LABEL),
            data=document.get("data") or {},
        )
