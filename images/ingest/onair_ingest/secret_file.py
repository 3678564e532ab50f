"""Follows the installation's secret in its file, which Kubernetes replaces when the Secret is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import structlog

from onair_crds.contract.ingest_gateway import usable_secret
from onair_crds.runtime.rotated_secret import RotatedSecret

log = structlog.get_logger()


async def read_secret(path: Path) -> bytes:
    """Reads a secret from a file.

    Raises:
        OSError: it cannot be read.
        ValueError: it could be guessed.
    """
    return usable_secret(await asyncio.to_thread(path.read_bytes))


async def take_secret(path: Path, secret: RotatedSecret) -> None:
    """Takes what is in the file; while that is of no use, the one before counts on."""
    try:
        if secret.replace(await read_secret(path)):
            log.info("ingest_secret.replaced")
    except (OSError, ValueError) as error:
        log.warning("ingest_secret.unusable", error=str(error))


async def follow_secret(path: Path, secret: RotatedSecret, interval_s: float) -> None:
    """Takes it again and again, until cancelled."""
    while True:
        await asyncio.sleep(interval_s)
        await take_secret(path, secret)
