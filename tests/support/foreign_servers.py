"""Servers of somebody else, which a cluster's pods reach by a name: for credentials that are really used."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import httpx
import yaml
from tests.support.child_process import START_TIMEOUT_S, ChildProcess
from tests.support.cluster import SHOWS, LocalCluster
from tests.support.control_plane import free_port
from tests.support.delivery.server_program import server_program
from tests.support.delivery.storage_server import StorageServer
from tests.support.docker import docker, gateway_of
from tests.support.waiting import wait_for

NAME = "elsewhere"
HOST = f"{NAME}.{SHOWS}.svc"
LOCKED = "locked/show"
"""Path for which SRT takes a passphrase and a password."""
PUBLISHER, READER = "publisher", "reader"
BUCKET = "shows"


@dataclass(frozen=True)
class ForeignCredentials:
    """What the servers ask for."""

    passphrase: str
    """Of SRT."""
    publish_password: str
    """In the stream id of SRT."""
    read_password: str
    """In the query of what is pulled by RTMP."""
    access_key: str
    secret_key: str


class ForeignServers:
    """MediaMTX and an object storage on this machine. Use as a context manager."""

    def __init__(self, cluster: LocalCluster, folder: Path, credentials: ForeignCredentials) -> None:
        self._cluster, self._folder, self._credentials = cluster, folder, credentials
        (network,) = json.loads(docker("network", "inspect", "kind"))
        self._address = gateway_of(network)
        self._rtmp, self._srt, self._api = free_port(), free_port(), free_port()
        keys = credentials.access_key, credentials.secret_key
        self._storage = StorageServer(folder, host=self._address, keys=keys)

    def __enter__(self) -> Self:
        config = self._folder / "foreign.yml"
        config.write_text(yaml.safe_dump(self._media_settings()))
        self._media = ChildProcess([server_program("mediamtx"), config], self._folder / "foreign.log")
        wait_for(self._responds, "the foreign media server responds", START_TIMEOUT_S)
        self._storage.bucket(BUCKET)
        asyncio.run(self._storage.start())
        self._cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(self._manifests()))
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.shows("delete", "service,endpointslice", NAME, "--ignore-not-found")
        self._storage.stop()
        self._media.stop()

    def _media_settings(self) -> dict[str, object]:
        known = self._credentials
        publish, read, api = ({"action": each} for each in ("publish", "read", "api"))
        users = [
            {"user": "any", "ips": ["127.0.0.1"], "permissions": [api]},
            {"user": "any", "permissions": [{**publish, "path": "~^open/"}]},
            {
                "user": PUBLISHER,
                "pass": known.publish_password,
                "permissions": [{**publish, "path": LOCKED}],
            },
            {"user": READER, "pass": known.read_password, "permissions": [read]},
        ]
        return {
            "api": True,
            "apiAddress": f"127.0.0.1:{self._api}",
            "rtmpAddress": f"{self._address}:{self._rtmp}",
            "srtAddress": f"{self._address}:{self._srt}",
            **dict.fromkeys(("rtsp", "hls", "webrtc", "moq"), False),
            "authInternalUsers": users,
            "paths": {LOCKED: {"srtPublishPassphrase": known.passphrase}, "all_others": None},
        }

    def _manifests(self) -> list[dict[str, object]]:
        """A Service without a selector: its name leads to this machine."""
        metadata = {"name": NAME, "namespace": SHOWS}
        of_service = {**metadata, "labels": {"kubernetes.io/service-name": NAME}}
        return [
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": metadata,
                "spec": {"clusterIP": "None", "ports": [{"port": self._rtmp}]},
            },
            {
                "apiVersion": "discovery.k8s.io/v1",
                "kind": "EndpointSlice",
                "metadata": of_service,
                "addressType": "IPv4",
                "endpoints": [{"addresses": [self._address]}],
                "ports": [{"port": self._rtmp}],
            },
        ]

    def _responds(self) -> bool:
        self._media.check()
        try:
            return self._get("/v3/paths/list").is_success
        except httpx.HTTPError:
            return False

    def _get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self._api}{path}", timeout=5, trust_env=False)

    @property
    def srt_url(self) -> str:
        """Without a stream id and a passphrase."""
        return f"srt://{HOST}:{self._srt}?pbkeylen=32"

    @property
    def stream_id(self) -> str:
        return f"publish:{LOCKED}:{PUBLISHER}:{self._credentials.publish_password}"

    def pull_url(self, key: str, password: str) -> str:
        """Of a stream that is read with a password."""
        return f"rtmp://{HOST}:{self._rtmp}/open/{key}?user={READER}&pass={password}"

    def push_url(self, key: str) -> str:
        """Where it comes from, for this machine."""
        return f"rtmp://{self._address}:{self._rtmp}/open/{key}"

    @property
    def endpoint(self) -> str:
        """Of the object storage."""
        return f"http://{HOST}:{self._storage.port}"

    def receives(self, path: str = LOCKED) -> bool:
        """Whether media of a path has come."""
        response = self._get(f"/v3/paths/get/{path}")
        return response.is_success and response.json()["bytesReceived"] > 0

    def is_read(self, key: str) -> bool:
        """Whether somebody reads a stream."""
        response = self._get(f"/v3/paths/get/open/{key}")
        return response.is_success and bool(response.json()["readers"])

    def stored(self, pattern: str) -> list[Path]:
        """Objects of the bucket."""
        return [*self._storage.bucket(BUCKET).rglob(pattern)]
