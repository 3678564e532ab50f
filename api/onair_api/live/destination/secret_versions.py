"""The secrets of one write of a destination: taken out of the spec, stored, taken back if the write fails."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from onair_api.errors import Violation
from onair_api.live.destination import passphrase
from onair_api.live.destination.record import DESTINATION_MESSAGE, members
from onair_api.wire.decode import Decoder
from onair_api.wire.message import REFERENCE, WireField
from onair_api.wire.model_violations import check
from onair_api.wire.working_copy import working_copy
from onair_api.writes.credential_secrets import Credentials, inline_secrets, was_refused
from onair_crds.kube.store import Entry
from onair_crds.resources.destination import DestinationSpec
from onair_crds.shapes import JsonObject

PENDING = "pending"
"""Name in the references until the Secret is stored; the spec is validated before anything is written."""

PLACE = ("url", "endpoint", "region")
"""Fields of an address that say which server its secrets are sent to."""

Present = dict[tuple[str, str], tuple[str, JsonObject]]
"""Value and reference of each secret that a stored spec has, by member and field."""


class SecretVersions:
    """One write. Use as an async context manager; `keep` says which Secrets the resource came to name."""

    def __init__(
        self, credentials: Credentials, destination_id: str, metadata_bytes: int, *, sees_secrets: bool
    ) -> None:
        """
        Args:
            sees_secrets: whether who writes may read the secrets. Whoever may not cannot have a kept one sent
                to another place either.
        """
        self._credentials = credentials
        self._sees_secrets = sees_secrets
        self.destination_id = destination_id
        self._metadata_bytes = metadata_bytes
        self._taken: dict[str, str] = {}
        self._stored: dict[str, dict[str, str]] = {}
        self._kept: set[str] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error and not was_refused(error):
            return
        for name in self._stored:
            if name not in self._kept:
                await self._credentials.discard(name)

    async def created_spec(self, project_id: str, request: JsonObject) -> JsonObject:
        """The spec of a new destination; its secrets are stored and referred to.

        Raises:
            InvalidArgument: names every wrong field.
            ApiError: the API server did not respond.
        """
        decoder = Decoder(self._metadata_bytes)
        spec = {"projectId": project_id, **decoder.message(DESTINATION_MESSAGE, request)}
        return await self._checked(spec, {}, decoder.violations)

    async def updated_spec(self, request: JsonObject, entry: Entry) -> JsonObject:
        """A copy of this version's spec with what the request names applied; new secrets are stored.

        Raises: as `created_spec`.
        """
        decoder = Decoder(self._metadata_bytes)
        present = await self._present(entry.spec)
        known = _as_shown(entry.spec, present) if self._sees_secrets else entry.spec
        spec = decoder.merged(DESTINATION_MESSAGE, known, request)
        if not self._sees_secrets:
            _forget_moved(entry.spec, spec)
        return await self._checked(spec, present, decoder.violations)

    async def _checked(self, spec: JsonObject, present: Present, violations: list[Violation]) -> JsonObject:
        """The spec with references for inline secrets; validated before any Secret is written."""
        self._take(spec, present, violations)
        check(DestinationSpec, spec, violations)
        await self._store(spec)
        return spec

    async def _present(self, spec: JsonObject) -> Present:
        """The secrets that a stored spec refers to."""
        found: Present = {}
        for field, message, part in members(spec.get("address") or {}):
            for name, value in (await self._credentials.values(message, part)).items():
                found[field.name, name] = (value, part[name + REFERENCE])
            reference = part.get(passphrase.REFERENCE)
            if isinstance(reference, dict) and (phrase := await self._credentials.value(reference)):
                found[field.name, passphrase.NAME] = (phrase, reference)
        return found

    def _take(self, spec: JsonObject, present: Present, violations: list[Violation]) -> None:
        """Replaces inline secrets by references: the present one where the value is the same, else a new."""
        self._taken = {}
        address = spec.get("address")
        if not isinstance(address, dict):
            return
        for field, message, part in members(address):
            for name, value in (inline_secrets(message, part) | _phrase(field, part, violations)).items():
                known = present.get((field.name, name))
                if known and known[0] == value:
                    part[name + REFERENCE] = known[1]
                    continue
                if name in message.fields:
                    longest = int(message.fields[name].node.get("maxLength", len(value)))
                    if len(value) > longest:
                        path = f"address.{field.name}.{name}"
                        violations.append(Violation(path, f"must be at most {longest} characters"))
                self._taken[name] = value
                part[name + REFERENCE] = {"name": PENDING, "key": name}

    async def _store(self, spec: JsonObject) -> None:
        """Writes what was taken, once however often the resource's write is tried, and names it in `spec`."""
        if not self._taken:
            return
        name = next((n for n, values in self._stored.items() if values == self._taken), None)
        if name is None:
            name = await self._credentials.store(self._taken, self.destination_id)
            self._stored[name] = self._taken
        for _, _, part in members(spec["address"]):
            for reference in part.values():
                if isinstance(reference, dict) and reference.get("name") == PENDING:
                    reference["name"] = name

    def keep(self, spec: JsonObject) -> None:
        """The write succeeded: what `spec` names stays."""
        for _, _, part in members(spec.get("address") or {}):
            for key, reference in part.items():
                if key.endswith(REFERENCE) and isinstance(reference, dict):
                    self._kept.add(str(reference.get("name")))


def _as_shown(spec: JsonObject, present: Present) -> JsonObject:
    """A stored spec with passphrases in their urls, as its readers know them.

    So a new url, and no other change, also says whether there is a passphrase.
    """
    shown = working_copy(spec)
    for field, _, part in members(shown.get("address") or {}):
        if known := present.get((field.name, passphrase.NAME)):
            part["url"] = passphrase.with_passphrase(part["url"], known[0])
            del part[passphrase.REFERENCE]
    return shown


def _forget_moved(stored: JsonObject, spec: JsonObject) -> None:
    """Drops the references of each member that is about another place than before."""
    before = {field.name: part for field, _, part in members(stored.get("address") or {})}
    for field, _, part in members(spec.get("address") or {}):
        known = before.get(field.name, {})
        if any(part.get(name) != known.get(name) for name in PLACE):
            for name in [key for key in part if key.endswith(REFERENCE)]:
                del part[name]


def _phrase(field: WireField, part: JsonObject, violations: list[Violation]) -> dict[str, str]:
    """Takes the passphrase out of a member's url; a reference that it had before is no longer of this url."""
    if not passphrase.is_srt(part.get("url")):
        part.pop(passphrase.REFERENCE, None)
        return {}
    part["url"], phrase = passphrase.without_passphrase(part["url"])
    if phrase is None:
        return {}
    if len(phrase.encode()) not in passphrase.LENGTH:
        violations.append(
            Violation(f"address.{field.name}.url", "must have a passphrase of 10 to 79 characters, or none")
        )
    return {passphrase.NAME: phrase}
