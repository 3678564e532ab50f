"""Keeps whose connections there are in a file, for the next process of this gateway. No key is in it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import structlog
from pydantic import TypeAdapter

from onair_ingest.streams.connection_identity import ConnectionIdentity, Identities

log = structlog.get_logger()

_CONTENT = TypeAdapter(dict[str, ConnectionIdentity])


async def read_identities(path: Path | None) -> dict[str, ConnectionIdentity]:
    """What an earlier process kept; nothing if none did."""
    if path is None:
        return {}
    try:
        return _CONTENT.validate_json(await asyncio.to_thread(path.read_bytes))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        log.warning("connections.unreadable", error=type(error).__name__)
        return {}


async def keep_identities(path: Path, identities: Identities) -> None:
    """Writes them whenever they change, until cancelled."""
    while True:
        await identities.changed.wait()
        identities.changed.clear()
        try:
            await asyncio.to_thread(_write, path, _CONTENT.dump_json(identities.known))
        except OSError as error:
            log.warning("connections.unwritable", error=type(error).__name__)


def _write(path: Path, content: bytes) -> None:
    draft = path.with_suffix(".draft")
    draft.write_bytes(content)
    draft.replace(path)
