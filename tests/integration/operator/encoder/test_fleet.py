"""Many encoders at a time: those that do not respond hold up nobody."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, cast

import pytest
from tests.support.documents import document
from tests.support.encoder_server import ADDRESS, SILENT_ADDRESS, EncoderServer
from tests.support.waiting import until
from tests.support.worlds import PROGRAM, SETTINGS, pod

from onair_crds.kube.store import Store
from onair_operator.cluster.actions import Action, FollowEncoder, PushProgram
from onair_operator.cluster.apply import Applier
from onair_operator.cluster.queue import WorkQueue
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.encoder.connection import CONNECT_TIMEOUT_S
from onair_operator.encoder.fleet import Fleet
from onair_operator.encoder.pod_identity import OperatorKey

DEAD = 50


async def test_fifty_dead_encoders_do_not_hold_up_a_healthy_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = OperatorKey.generate()
    async with EncoderServer.running(key, tmp_path, monkeypatch) as server:
        fleet = Fleet(key, lambda _: None)
        world = World(Store(KINDS), fleet, *cast(Any, (None, None)))
        none = cast(Any, None)
        applier = Applier(none, world, WorkQueue(), none, none, key, SETTINGS, lambda: True)

        def plan(name: str, ip: str) -> list[Action]:
            world.store.update("Pod", document(name, {}, uid=name))
            encoder = pod(uid=name, name=name, ip=ip)
            return [FollowEncoder(name, encoder, server.certificate), PushProgram(name, PROGRAM)]

        plans = [plan(f"dead-{n}", SILENT_ADDRESS) for n in range(DEAD)] + [plan("healthy", ADDRESS)]
        began = time.monotonic()
        for each in plans:  # as one worker would
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await applier.apply(each)
        await until(lambda: fleet.views(["healthy"])["healthy"].pushed is not None)
        assert time.monotonic() - began < CONNECT_TIMEOUT_S
        assert len(server.programs) == 1
        await fleet.close()
