"""A real object storage: versitygw over a folder, whose buckets are folders and objects files."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any, Self

from tests.support.certificate_authority import HOST
from tests.support.control_plane import free_port
from tests.support.delivery.server_program import server_program
from tests.support.waiting import until

from onair_crds.contract.program import ProgramDestination, ProgramStorage
from onair_encoder.publish.hls.bucket import Bucket

SEGMENT_MS = 2000
ACCESS, SECRET = "producer", "s3cret-of-the-producer"


class StorageServer:
    """Use as an async context manager; can be stopped and started in between."""

    def __init__(
        self,
        folder: Path,
        host: str = HOST,
        certificate: tuple[Path, Path] | None = None,
        keys: tuple[str, str] = (ACCESS, SECRET),
    ) -> None:
        """
        Args:
            certificate: its file, and that of its key; with one it serves https.
            keys: the access key and the secret key that it takes.
        """
        self.host, self._keys = host, keys
        self._tls = ("--cert", certificate[0], "--key", certificate[1]) if certificate else ()
        self.root = folder / "buckets"
        self.root.mkdir(parents=True)
        self.port = free_port()
        self._log = folder / "versitygw.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        return f"{'https' if self._tls else 'http'}://{self.host}:{self.port}"

    def bucket(self, name: str = "shows") -> Path:
        path = self.root / name
        path.mkdir(exist_ok=True)
        return path

    def destination(self, id_: str = "archive", timeout_ms: int = 1000, **storage: Any) -> ProgramDestination:
        known = {"region": "us-east-1", "bucket": "shows", "endpoint": self.endpoint, "prefix": id_}
        keys = {"access_key": ACCESS, "secret_key": SECRET, "segment_duration_ms": SEGMENT_MS}
        return ProgramDestination(
            id=id_, type="HLS", storage=ProgramStorage(**{**known, **keys, **storage}), timeout_ms=timeout_ms
        )

    async def put(self, key: str, text: str) -> None:
        """Stores an object as another client does: what is only written into its file keeps the old ETag."""
        storage = self.destination().storage
        assert storage
        bucket = Bucket(storage, lambda: 5.0)
        await bucket.put(key, text.encode(), "application/vnd.apple.mpegurl", "no-cache")
        await bucket.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop()

    def _spawn(self) -> None:
        command = [
            *(server_program("versitygw"), "--port", f"{self.host}:{self.port}"),
            *("--access", self._keys[0], "--secret", self._keys[1]),
            *("--quiet", *self._tls, "posix", self.root),
        ]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log)

    async def start(self) -> None:
        """Returns when it takes connections."""
        self._spawn()
        await until(self._connects, "the storage takes connections", 10)

    async def _connects(self) -> bool:
        try:
            _, writer = await asyncio.open_connection(self.host, self.port)
        except OSError:
            return False
        writer.close()
        return True

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
