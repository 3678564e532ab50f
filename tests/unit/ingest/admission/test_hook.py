"""Questions of a media server, which hold what a stranger has sent: each is decided, or refused as none."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import aiohttp
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from prometheus_client import REGISTRY
from tests.support.json_values import JSON

from onair_ingest.admission.admission import Admission, Publisher
from onair_ingest.admission.hook import PATH, Hook

pytestmark = pytest.mark.fuzz

PASSWORD = "of the media server"
SHORT = settings(
    max_examples=settings().max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
TEXTS = st.text(max_size=12) | st.sampled_from(["live/key", "a=b&key=c", "%ff", "publish:key", "/", "\0"])
QUESTIONS = st.fixed_dictionaries(
    {
        "action": st.sampled_from(["publish", "read", "api", "playback"]) | TEXTS,
        "protocol": st.sampled_from(["rtmp", "srt", "webrtc"]) | TEXTS,
    },
    optional=dict.fromkeys(("path", "query", "user", "password", "token", "id", "ip"), TEXTS | JSON),
)


class AdmitsAll(Admission):
    def __init__(self) -> None:
        self.admitted: list[Publisher] = []

    async def admit(self, publisher: Publisher) -> None:
        self.admitted.append(publisher)


@pytest.fixture
async def admission() -> AdmitsAll:
    return AdmitsAll()


@pytest.fixture
async def url(admission: AdmitsAll) -> AsyncIterator[str]:
    runner = await Hook(admission, PASSWORD).start("127.0.0.1", 0)
    yield f"http://127.0.0.1:{runner.addresses[0][1]}{PATH}"
    await runner.cleanup()


async def status(url: str, body: bytes, password: str = PASSWORD) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, params={"token": password}) as response,
    ):
        return response.status


async def test_what_alerts_count_is_there_before_it_happens(url: str) -> None:
    for protocol in ("rtmp", "srt"):
        for reason in ("NoKey", "UnknownKey", "Disabled", "InUse", "WrongProtocol", "Unavailable"):
            labels = {"protocol": protocol, "reason": reason}
            assert REGISTRY.get_sample_value("onair_ingest_refused_total", labels) is not None
        assert REGISTRY.get_sample_value("onair_ingest_admitted_total", {"protocol": protocol}) is not None


@SHORT
@given(QUESTIONS.map(lambda found: json.dumps(found).encode()) | st.binary(max_size=40))
@example(b"[" * 60_000)
@example(b'{"action": "read", "protocol": "rtmp", "password": "\\ud800"}')
async def test_any_question_is_decided(url: str, admission: AdmitsAll, body: bytes) -> None:
    admission.admitted.clear()
    found = await status(url, body)
    assert found in (204, 400, 403)
    assert (found == 204) == bool(admission.admitted)
    assert all(each.key and each.protocol in ("rtmp", "srt") for each in admission.admitted)


@SHORT
@given(st.text(max_size=20).filter(lambda shown: shown != PASSWORD))
async def test_nobody_else_is_answered(url: str, admission: AdmitsAll, shown: str) -> None:
    assert await status(url, b"{}", shown) == 401
    assert not admission.admitted
