"""What a destination reports, and what fixes it."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.support.certificate_authority import CertificateAuthority
from tests.support.delivery.bucket import (
    hls_publisher,
    until_connected,
    until_error,
)
from tests.support.delivery.live_program import live_program
from tests.support.delivery.storage_server import StorageServer

from onair_encoder.publish import tls
from onair_encoder.publish.hls.output import HlsOutput

pytestmark = pytest.mark.media


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"secret_key": "wrong"}, "the secret key does not match the access key"),
        ({"access_key": "nobody"}, "the access key is not known to"),
        ({"secret_key": ""}, "the access key or its secret is empty"),
        ({"bucket": "elsewhere"}, "bucket elsewhere was not found"),
        ({"endpoint": "http://127.0.0.1:9"}, "connection refused by 127.0.0.1:9"),
        ({"endpoint": "http://no-such-host.invalid"}, "no-such-host.invalid: name not found"),
    ],
)
async def test_what_is_wrong_is_reported_and_a_change_fixes_it(
    tmp_path: Path, changed: dict[str, Any], words: str
) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        server.bucket()
        publisher = hls_publisher(server.destination(**changed), fan_out)
        said = await until_error(publisher)
        assert words in said
        assert "s3cret" not in said
        fixed = server.destination()
        if publisher.update(fixed):
            await until_connected(publisher)
        else:
            assert set(changed) & {"bucket", "endpoint"}
        publisher.abort()


async def test_a_full_storage_is_reported(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        bucket = server.bucket()
        mounting = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(bucket)]
        await asyncio.to_thread(subprocess.run, mounting, check=True)
        try:
            publisher = hls_publisher(server.destination(), fan_out)
            words = await until_error(publisher, 20)
            assert words == "the storage is full"
            publisher.abort()
        finally:
            await asyncio.to_thread(subprocess.run, ["umount", "-l", str(bucket)], check=True)


async def test_two_destinations_do_not_overwrite_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HlsOutput, "finish_s", 1.0)
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        server.bucket()
        first = hls_publisher(server.destination(), fan_out)
        await until_connected(first)
        second = hls_publisher(server.destination(), fan_out)
        words = await until_error(second)
        assert "another destination of this show writes to bucket shows" in words
        assert first.destination.state.connect == "Connected"
        first.abort()
        second.abort()


async def test_a_storage_is_trusted_by_added_ca_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, trusted = CertificateAuthority(tmp_path), tmp_path / "trusted"
    trusted.mkdir()
    monkeypatch.setattr(tls, "CA_CERTIFICATES", trusted)
    certificate = authority.issue_for("localhost")
    async with StorageServer(tmp_path, "localhost", certificate) as server, live_program() as fan_out:
        server.bucket()
        publisher = hls_publisher(server.destination(), fan_out)
        words = await until_error(publisher)
        assert words.startswith(
            f"localhost:{server.port}: TLS failed: no known CA has signed the certificate"
        )
        (trusted / "own.crt").write_bytes(authority.pem)
        publisher.retry_now()
        await until_connected(publisher)
        publisher.abort()
