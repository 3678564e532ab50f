"""The client of one encoder, against an HTTPS server with an encoder's identity."""

from __future__ import annotations

import datetime as dt
import gc
import weakref
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from tests.support.encoder_server import EncoderServer
from tests.support.waiting import until
from tests.support.worlds import PROGRAM, pod

from onair_crds.contract.pod import CERTIFICATE, CONTACT_PATH, PROGRAM_PATH, STATUS_PATH
from onair_crds.contract.program import Contact, EncoderStatus, Program
from onair_operator.encoder import contact
from onair_operator.encoder.client import EncoderClient
from onair_operator.encoder.connection import EncoderConnection
from onair_operator.encoder.pod_identity import OperatorKey, pod_identity
from onair_operator.encoder.program_push import digest
from onair_operator.encoder.unreachable import EncoderUnreachable

KEY = OperatorKey.generate()


@pytest.fixture
async def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EncoderServer]:
    async with EncoderServer.running(KEY, tmp_path, monkeypatch) as encoder:
        yield encoder


class FollowedEncoder:
    """A client, and how often it reported a transition."""

    def __init__(self, certificate: str) -> None:
        self.changes = 0
        self.client = EncoderClient(pod(ip="127.0.0.1"), certificate, KEY, self._changed)

    def _changed(self) -> None:
        self.changes += 1


@pytest.fixture
async def followed(encoder: EncoderServer) -> AsyncIterator[FollowedEncoder]:
    followed = FollowedEncoder(encoder.certificate)
    yield followed
    await followed.client.close()


def status(epoch: int = 1, **fields: int) -> EncoderStatus:
    return EncoderStatus(phase="running", broadcast="run", epoch=epoch, **fields)


async def test_a_transition_is_reported_and_a_mere_count_is_not(
    encoder: EncoderServer, followed: FollowedEncoder
) -> None:
    encoder.statuses.put_nowait(status(frames=1))
    await until(lambda: followed.changes == 1)
    encoder.statuses.put_nowait(status(frames=2))
    await until(lambda: bool(followed.client.view.status and followed.client.view.status.frames == 2))
    assert followed.changes == 1
    assert followed.client.view.connected


async def test_programmes_are_handed_over_in_the_background(
    encoder: EncoderServer, followed: FollowedEncoder
) -> None:
    def is_pushed(program: Program) -> bool:
        return followed.client.view.pushed == digest(program)

    stop = PROGRAM.model_copy(update={"stop": True})
    for program in (PROGRAM, stop):
        followed.client.push.want(program)
        await until(partial(is_pushed, program))
    assert [program.stop for program in encoder.programs] == [False, True]


@pytest.mark.parametrize("line", [b"[" * 100_000, b" " * 9 * 1024 * 1024, b"\xff", b"{}"])
async def test_an_encoder_that_streams_nonsense_is_followed_on(
    encoder: EncoderServer, followed: FollowedEncoder, line: bytes
) -> None:
    encoder.statuses.put_nowait(line)

    def is_seen() -> bool:
        encoder.statuses.put_nowait(status(frames=2))  # the former connection may take some
        return followed.client.view.status is not None

    await until(is_seen)


async def test_an_encoder_that_lost_its_programme_gets_it_again(
    encoder: EncoderServer, followed: FollowedEncoder
) -> None:
    followed.client.push.want(PROGRAM)
    await until(lambda: followed.client.view.pushed is not None)
    encoder.status = status()
    encoder.statuses.put_nowait(encoder.status)
    await until(lambda: len(encoder.programs) == 2)


async def test_a_programme_of_an_epoch_that_is_over_is_told_as_refused(
    encoder: EncoderServer, followed: FollowedEncoder
) -> None:
    encoder.response = (409, "epoch 2 is known")
    encoder.status = status(epoch=2)
    followed.client.push.want(PROGRAM)
    await until(lambda: followed.client.view.refused == "HTTP 409: epoch 2 is known")
    assert followed.client.view.pushed is None
    assert followed.changes == 1


async def test_a_revision_that_is_over_is_taken_on_and_not_told(
    encoder: EncoderServer, followed: FollowedEncoder
) -> None:
    encoder.status = status(revision=2**45)  # of a predecessor whose clock is a thousand years ahead
    followed.client.push.want(PROGRAM)
    await until(lambda: followed.client.view.pushed == digest(PROGRAM))
    assert [program.revision for program in encoder.programs] == [2**45 + 1]
    assert followed.client.view.refused is None


async def test_one_that_is_replaced_while_it_cannot_be_reached_hears_that_before_anything_else(
    encoder: EncoderServer, followed: FollowedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contact, "REPLACED_RETRY_S", 0.05)
    encoder.failing = {CONTACT_PATH, STATUS_PATH, PROGRAM_PATH}
    followed.client.push.want(PROGRAM)
    await until(lambda: encoder.failed > 3)
    followed.client.replace()
    encoder.failed = 0
    await until(lambda: encoder.failed > 5)  # the programme that was on its way has failed, too
    encoder.requests.clear()
    encoder.failing, encoder.failed = {CONTACT_PATH}, 0
    await until(lambda: encoder.failed > 20)
    assert encoder.requests == []
    encoder.failing = set()
    encoder.statuses.put_nowait(status())
    await until(lambda: followed.client.view.connected)
    assert followed.client.view.yielded
    assert encoder.requests == [f"PUT {CONTACT_PATH} {Contact(replaced=True).wire()}", f"GET {STATUS_PATH}"]


async def test_one_whose_run_is_over_is_told_and_followed_to_its_end(
    encoder: EncoderServer, followed: FollowedEncoder
) -> None:
    encoder.response = (400, "not a program")
    encoder.statuses.put_nowait(status())
    followed.client.push.want(PROGRAM)
    await until(lambda: followed.client.view.refused is not None)
    assert not followed.client.view.stopped
    followed.client.stop()
    await until(lambda: f"PUT {CONTACT_PATH} {Contact(stop=True).wire()}" in encoder.requests)
    assert (followed.client.view.stopped, followed.client.view.yielded) == (True, False)
    encoder.statuses.put_nowait(EncoderStatus(phase="finished"))
    await until(lambda: followed.client.view.over)


async def test_another_encoders_certificate_is_refused(encoder: EncoderServer) -> None:
    other = EncoderConnection(
        pod(ip="127.0.0.1"), pod_identity(KEY, dt.datetime.now(dt.UTC))[CERTIFICATE], KEY
    )
    with pytest.raises(EncoderUnreachable):
        await other.put_program(PROGRAM)
    assert encoder.programs == []
    await other.close()


async def closed(encoder: EncoderServer, *, replaced: bool) -> weakref.ref[EncoderClient]:
    """A client after all that one may live through."""
    client = EncoderClient(pod(ip="127.0.0.1"), encoder.certificate, KEY, lambda: None)
    client.push.want(PROGRAM)
    if encoder.failing:
        await until(lambda: encoder.failed > 3)
    else:
        encoder.statuses.put_nowait(status())
        await until(lambda: client.connected and bool(client.view.pushed))
    if replaced:
        client.replace()
        await until(lambda: bool(encoder.failing) or client.view.yielded)
    await client.close()
    return weakref.ref(client)


@pytest.mark.parametrize("failing", [set(), {CONTACT_PATH, PROGRAM_PATH, STATUS_PATH}])
@pytest.mark.parametrize("replaced", [False, True])
async def test_a_closed_client_is_freed_without_a_collection_of_garbage(
    encoder: EncoderServer, failing: set[str], replaced: bool
) -> None:
    encoder.failing = failing
    gc.disable()
    try:
        client = await closed(encoder, replaced=replaced)
        await until(lambda: client() is None)
    finally:
        gc.enable()
