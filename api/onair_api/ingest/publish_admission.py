"""Whether somebody may publish with a stream key: from what this replica sees of the cluster."""

from __future__ import annotations

import base64
import binascii
import hmac

from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import CREDENTIALS, SOURCE, STREAM
from onair_crds.contract.ingest import STREAM_KEY, is_enabled, source_of_secret
from onair_crds.contract.ingest_gateway import PublishRefusal, PublishRequest, stream_of_key
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import ConnectState
from onair_crds.shapes import JsonObject

ADDRESSES = {"rtmp": "rtmpPush", "rtmps": "rtmpPush", "srt": "srtPush"}
NAMES = {"rtmpPush": "RTMP", "srtPush": "SRT"}

UNKNOWN = PublishRefusal(reason="UnknownKey", message="no source has this stream key")


class PublishAdmission:
    def __init__(self, cluster: Cluster) -> None:
        self._view = cluster.view

    def refusal(self, request: PublishRequest) -> PublishRefusal | None:
        """Why a publisher is refused; None if it is admitted.

        The time that this takes says nothing of a key: it is found by its hash.
        """
        source = self._source(request.stream_key.get_secret_value())
        return refusal_of(source, request) if source else UNKNOWN

    def _source(self, key: str) -> Entry | None:
        for secret in self._view.select(CREDENTIALS, STREAM, stream_of_key(key)):
            name = source_of_secret(secret.name)
            if name and not secret.deleting and _is_key_of(secret, key):
                return self._view.get(SOURCE, name)
        return None


def refusal_of(source: Entry, request: PublishRequest) -> PublishRefusal | None:
    """Why a source's publisher is refused. Pure."""
    if source.deleting:  # the operator would disconnect them at once
        return UNKNOWN
    address: JsonObject = source.spec.get("address") or {}
    wanted = ADDRESSES[request.protocol]
    if wanted not in address:
        by = next((text for name, text in NAMES.items() if name in address), "a pull")
        return PublishRefusal(reason="WrongProtocol", message=f"the source {source.name} is received by {by}")
    if not is_enabled(source.spec):
        return PublishRefusal(reason="Disabled", message=f"the source {source.name} is disabled")
    status = source.status
    holder = status.get("gateway")
    # By a key that has been replaced since it is not in use: who has the new one takes its place.
    same_key = status.get("stream") in (None, stream_of_key(request.stream_key.get_secret_value()))
    connected = status.get("connect") == ConnectState.CONNECTED
    if connected and same_key and holder and holder != request.gateway:
        return PublishRefusal(
            reason="InUse", message=f"an encoder sends the source {source.name} to {holder}"
        )
    return None


def _is_key_of(secret: Entry, key: str) -> bool:
    try:
        stored = base64.b64decode((secret.document.get("data") or {})[STREAM_KEY])
    except (KeyError, TypeError, ValueError, binascii.Error):
        return False
    return hmac.compare_digest(stored, key.encode())
