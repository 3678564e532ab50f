"""Who has no stream key cannot make the ingest server hold much more than what they send."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.waiting import wait_for

from onair_crds.rtmp import amf
from onair_crds.rtmp.chunks import COMMAND_AMF0, DATA_AMF0, SET_CHUNK_SIZE, message_chunks

pytestmark = pytest.mark.media
KIB, MIB = 2**10, 2**20
LARGEST = 10 * MIB
"""Of chunks and of messages, as the server has it."""
SMALL = 64 * KIB
"""All that is held before `publish`, and each message that is no media."""
VIDEO = 9
HANDSHAKE = 1536
CONNECTIONS, WAVES = 30, 5
"""What one wave leaves behind is only resident once it is used again."""
MOST_GROWN_MIB = 64
CLOSED_WITHIN_S = 5
"""The server closes one that does nothing after 10."""


def connected(pod: IngestPod, chunk_size: int) -> socket.socket:
    """A connection whose handshake is over."""
    client = socket.create_connection(("127.0.0.1", pod.rtmp_port), timeout=CLOSED_WITHIN_S)
    client.sendall(b"\x03" + bytes(8) + os.urandom(HANDSHAKE - 8))
    received = b""
    while len(received) < 1 + 2 * HANDSHAKE:
        received += client.recv(65536)
    client.sendall(received[1 : 1 + HANDSHAKE])
    client.sendall(whole(SET_CHUNK_SIZE, chunk_size.to_bytes(4, "big")))
    return client


def published(pod: IngestPod, chunk_size: int) -> socket.socket:
    """A connection that wants to publish; it is admitted or refused once its media are known."""
    client = connected(pod, chunk_size)
    address = {"app": "live", "tcUrl": pod.rtmp}
    client.sendall(whole(COMMAND_AMF0, amf.encode("connect", 1.0, address)))
    client.sendall(whole(COMMAND_AMF0, amf.encode("publish", 2.0, None, "no-key", "live")))
    return client


def whole(type_: int, body: bytes) -> bytes:
    return b"".join(message_chunks(3, type_, 0, 0, body))


def begun(chunk_stream: int, type_: int, size: int, sent: int) -> bytes:
    """The beginning of a message."""
    return bytes((chunk_stream, 0, 0, 0)) + size.to_bytes(3, "big") + bytes((type_,)) + bytes(4 + sent)


def is_closed(client: socket.socket) -> bool:
    """Whether the server closes the connection, whatever it sends before."""
    with client:
        try:
            while client.recv(65536):
                pass
        except TimeoutError:
            return False
        except ConnectionError:
            pass
    return True


def resident_mib(pod: IngestPod) -> float:
    status = Path(f"/proc/{pod.server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def received(pod: IngestPod, key: str) -> int:
    found: int = pod.server_api("GET", f"/v3/paths/get/live/{key}").raise_for_status().json()["inboundBytes"]
    return found


def wait_for_media(pod: IngestPod, key: str) -> None:
    so_far = received(pod, key)
    wait_for(lambda: received(pod, key) > so_far, "the publisher goes on")


def test_what_messages_merely_say_takes_no_memory(own_pod: IngestPod, key: str) -> None:
    with FfmpegEncoder(f"{own_pod.rtmp}/{key}") as encoder, own_pod.follow() as follower:
        follower.flowing(key)
        before_mib = resident_mib(own_pod)
        for _ in range(WAVES):
            clients = [connected(own_pod, LARGEST) for _ in range(CONNECTIONS)]
            for client in clients:
                client.sendall(begun(3, COMMAND_AMF0, LARGEST, 0))
            wait_for_media(own_pod, key)
            for client in clients:
                client.close()
        assert resident_mib(own_pod) - before_mib < MOST_GROWN_MIB
        assert encoder.process.poll() is None
        assert follower.of(key)[-1].state.flowing


def test_a_command_is_small(pod: IngestPod) -> None:
    client = connected(pod, KIB)
    client.sendall(begun(3, COMMAND_AMF0, SMALL + 1, KIB))
    assert is_closed(client)


def test_incomplete_messages_are_small_all_together_before_publish(pod: IngestPod) -> None:
    client = connected(pod, 8 * KIB)
    for chunk_stream in range(4, 13):
        client.sendall(begun(chunk_stream, COMMAND_AMF0, SMALL, 8 * KIB))
    assert is_closed(client)


def test_a_chunk_is_small_before_publish(pod: IngestPod) -> None:
    client = connected(pod, LARGEST)
    client.sendall(begun(4, VIDEO, LARGEST, SMALL + 1))
    assert is_closed(client)


def test_incomplete_messages_are_as_large_as_one_may_be_all_together(pod: IngestPod) -> None:
    client = published(pod, MIB)
    try:
        for chunk_stream in range(4, 15):
            client.sendall(begun(chunk_stream, VIDEO, LARGEST, MIB))
    except ConnectionError:
        pass
    assert is_closed(client)


def test_metadata_is_small(pod: IngestPod) -> None:
    client = published(pod, KIB)
    client.sendall(begun(4, DATA_AMF0, SMALL + 1, KIB))
    assert is_closed(client)


def test_a_large_picture_is_received(pod: IngestPod, follower: Follower, key: str) -> None:
    """Not by the bounds of what comes before it."""
    noise = ["-f", "lavfi", "-i", "nullsrc=size=1280x720:rate=5,geq=random(1)*255:128:128"]
    with FfmpegEncoder(f"{pod.rtmp}/{key}", video=noise, options=("-qp", "4", "-preset", "ultrafast")):
        follower.flowing(key)
