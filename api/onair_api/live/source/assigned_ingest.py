"""Where sources are pushed to: as values say, or as the operator has found."""

from __future__ import annotations

from onair_api.cache.view import View
from onair_api.cache.watched_kinds import INGEST_ADDRESSES
from onair_api.settings import IngestSettings
from onair_crds.contract.ingest import ADDRESSES_CONFIG_MAP, Ingest, addresses_in


class AssignedIngest:
    def __init__(self, view: View, settings: IngestSettings, namespace: str) -> None:
        self._view = view
        self._settings = settings
        self._namespace = namespace
        self._unfound = settings.addresses(namespace)

    def now(self) -> Ingest:
        """The addresses at the moment; the same object as long as they are the same."""
        entry = self._view.get(INGEST_ADDRESSES, ADDRESSES_CONFIG_MAP) if self._settings.found else None
        if entry is None:
            return self._unfound
        ingest: Ingest | None = entry.records.get("ingest")
        if ingest is None:
            found = addresses_in(entry.document)
            ingest = entry.records["ingest"] = self._settings.addresses(self._namespace, found)
        return ingest
