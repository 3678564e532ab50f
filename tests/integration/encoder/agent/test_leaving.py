"""An encoder whose pod is deleted while there is no operator."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from tests.support.delivery.agent_process import AgentProcess
from tests.support.delivery.bucket import names, text_of
from tests.support.delivery.storage_server import StorageServer
from tests.support.small_program import small_program
from tests.support.waiting import until

from onair_operator.settings import OperatorSettings

pytestmark = pytest.mark.media


async def test_a_recording_is_closed_within_the_grace_period_though_no_operator_says_anything(
    tmp_path: Path,
) -> None:
    """As after `helm uninstall`. A live window has no end: another encoder may go on with it."""
    grace_s = OperatorSettings().encoder.termination_grace_period_s
    async with StorageServer(tmp_path) as server:
        bucket = server.bucket()
        wanted = [server.destination("archive", vod=True), server.destination("live")]
        async with AgentProcess(tmp_path / "pod", small_program(destinations=wanted)) as agent:
            archive, live = bucket / "archive/run.m3u8", bucket / "live/index.m3u8"
            await until(lambda: names(text_of(archive)) and names(text_of(live)), "both are delivered", 30)
            began = time.monotonic()
            async with asyncio.timeout(grace_s):
                assert await agent.terminate() == 0
            assert time.monotonic() - began < grace_s - 1, "PID 1 has to end as well"
        text = text_of(archive)
        assert text.endswith("#EXT-X-ENDLIST\n")
        assert set(names(text)) == {each.name for each in archive.parent.glob("*.ts")}
        assert "ENDLIST" not in text_of(live)
