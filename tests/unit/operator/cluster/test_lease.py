"""A process that was paused does not take itself for the leader, and one whose requests are slow stays it."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from functools import partial
from typing import Any, Literal, cast

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs
from tests.support.waiting import until

from onair_crds.contract.times import format_time
from onair_crds.kube.apis import Api
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.cluster import lease as lease_module
from onair_operator.cluster.lease import LeaderElection
from onair_operator.settings import LeaderElectionSettings

SETTINGS = LeaderElectionSettings(lease_duration_s=8.0, renew_interval_s=0.01)

HANGS_S = SETTINGS.lease_duration_s * 0.3
"""More than one request may take, and not so much that there is no time for another."""


async def for_ever() -> None:
    await asyncio.Event().wait()


class LeaseApiServer:
    """Has one Lease, which may be taken by another; requests take as long as a test says."""

    def __init__(self) -> None:
        self.lease: Document | None = None
        self.version = 0
        self.requests: list[str] = []
        self.hanging: list[Literal["unseen", "done"]] = []
        """Of the next requests, which never get a response: whether they take effect."""
        self.clock: Clock | None = None
        self.latency_s = 0.0

    async def get(self, _: Api, __: str, ___: str) -> Document:
        await self._received("get")
        if self.lease is None:
            raise ApiError(404, "NotFound", "not found")
        return self.lease

    async def create(self, _: Api, __: str, document: Document) -> Document:
        await self._received("create")
        return self._written(document)

    async def replace(self, _: Api, __: str, ___: str, document: Document) -> Document:
        outcome = await self._received("replace", lasts=True)
        known = document["metadata"].get("resourceVersion")
        if self.lease and known != self.lease["metadata"]["resourceVersion"]:
            raise ApiError(409, "Conflict", "the object has been modified")
        written = self._written(document)
        if outcome == "done":
            await self._hang()
        return written

    def _written(self, document: Document) -> Document:
        self.version += 1
        owned: Document = {"f:spec": {"f:renewTime": {}}}
        written = {"time": format_time(dt.datetime.now(dt.UTC), "seconds"), "fieldsV1": owned}
        version = {"resourceVersion": str(self.version), "managedFields": [written]}
        metadata = {**document["metadata"], **version}
        self.lease = {**document, "metadata": metadata}
        return self.lease

    async def _received(self, request: str, lasts: bool = False) -> str:
        self.requests.append(request)
        if self.clock:
            self.clock.ahead_s += self.latency_s
            await asyncio.sleep(0)
        if not self.hanging:
            return ""
        outcome = self.hanging.pop(0)
        if outcome == "unseen" or not lasts:
            await self._hang()
        return outcome

    async def _hang(self) -> None:
        if self.clock:
            self.clock.ahead_s += HANGS_S
        await asyncio.Event().wait()


class Clock:
    """Is put forward by a test, so that nothing has to last."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead_s = 0.0
        monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + self.ahead_s)


class Leading:
    """What a process does while it leads: counts how often it began."""

    def __init__(self) -> None:
        self.began = 0

    async def __call__(self) -> None:
        self.began += 1
        await asyncio.Event().wait()


async def test_a_leader_that_was_paused_looks_at_its_lease_before_it_acts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api, clock = LeaseApiServer(), Clock(monkeypatch)
    election = LeaderElection(cast(Any, api), "onair-system", "first", SETTINGS)
    assert not election.may_act()
    campaign = asyncio.create_task(election.campaign(for_ever))
    await until(election.may_act, "it may act", 10, poll_s=0)
    clock.ahead_s = 60.0
    assert election.leading
    assert not election.may_act()
    await until(election.may_act, "it may act", 10, poll_s=0)
    campaign.cancel()


async def test_the_metric_says_who_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    api, clock = LeaseApiServer(), Clock(monkeypatch)
    election = LeaderElection(cast(Any, api), "onair-system", "first", SETTINGS)
    seen = [REGISTRY.get_sample_value("onair_operator_leading")]
    campaign = asyncio.create_task(election.campaign(for_ever))
    await until(election.may_act, "it may act", 10, poll_s=0)
    seen.append(REGISTRY.get_sample_value("onair_operator_leading"))
    clock.ahead_s = 60.0
    seen.append(REGISTRY.get_sample_value("onair_operator_leading"))
    campaign.cancel()
    assert seen == [0, 1, 0]


async def test_each_leader_has_a_higher_term_though_the_lease_is_deleted() -> None:
    api, terms = LeaseApiServer(), []
    for name in ("first", "second", "first"):
        election = LeaderElection(cast(Any, api), "onair-system", name, SETTINGS)
        campaign = asyncio.create_task(election.campaign(for_ever))
        await until(partial(getattr, election, "leading"), "it leads", 10, poll_s=0)
        terms.append(election.term)
        campaign.cancel()
        api.lease = None
    assert terms == sorted(set(terms))


async def test_a_lease_that_says_nothing_is_taken() -> None:
    """As `kubectl` may have left one."""
    api = LeaseApiServer()
    api.lease = {"metadata": {"name": "onair-operator", "resourceVersion": "1"}}
    election = LeaderElection(cast(Any, api), "onair-system", "first", SETTINGS)
    campaign = asyncio.create_task(election.campaign(for_ever))
    await until(election.may_act, "it may act", 10, poll_s=0)
    campaign.cancel()
    await asyncio.gather(campaign, return_exceptions=True)
    await election.release()
    assert api.lease["spec"]["holderIdentity"] == ""


async def led_for(api: LeaseApiServer, renewals: int, settings: LeaderElectionSettings = SETTINGS) -> int:
    """How often one process began to lead until it has written its Lease so often after what was to hang."""
    election, leading = LeaderElection(cast(Any, api), "onair-system", "first", settings), Leading()
    api.lease = {"metadata": {"name": "onair-operator", "resourceVersion": "0"}}
    hanging, api.hanging = api.hanging, []
    campaign = asyncio.create_task(election.campaign(leading))
    await until(election.may_act, "it may act", 10, poll_s=0)
    api.requests.clear()
    api.hanging = hanging
    await until(lambda: not api.hanging, "the requests hang", 10, poll_s=0)
    written = api.version
    await until(lambda: api.version >= written + renewals, "it has renewed its Lease", 30, poll_s=0)
    assert election.may_act()
    campaign.cancel()
    await asyncio.gather(campaign, return_exceptions=True)
    return leading.began


async def test_a_lease_is_renewed_without_another_look() -> None:
    api = LeaseApiServer()
    assert await led_for(api, 3) == 1
    assert set(api.requests) == {"replace"}


@pytest.mark.parametrize("outcome", ["unseen", "done"])
async def test_a_request_that_hangs_leaves_time_for_the_next_one(
    outcome: Literal["unseen", "done"], monkeypatch: pytest.MonkeyPatch
) -> None:
    api = LeaseApiServer()
    api.clock, api.hanging = Clock(monkeypatch), [outcome]
    assert await led_for(api, 2) == 1


async def test_slow_requests_do_not_lose_the_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes three quarters of the interval."""
    api, settings = LeaseApiServer(), LeaderElectionSettings(lease_duration_s=8.0, renew_interval_s=2.0)
    api.clock, api.latency_s = Clock(monkeypatch), 1.5
    assert await led_for(api, 3, settings) == 1


async def test_a_lease_that_another_took_meanwhile_is_not_written_over() -> None:
    api = LeaseApiServer()
    first, leading = LeaderElection(cast(Any, api), "onair-system", "first", SETTINGS), Leading()
    campaign = asyncio.create_task(first.campaign(leading))
    await until(first.may_act, "it may act", 10, poll_s=0)
    assert api.lease
    taken = {**api.lease["spec"], "holderIdentity": "second"}
    api.version += 1
    api.lease = {"metadata": {"name": "onair-operator", "resourceVersion": str(api.version)}, "spec": taken}
    await until(lambda: not first.leading, "it leads no more", 10, poll_s=0)
    assert api.lease["spec"] == taken
    campaign.cancel()


class WallClock:
    """A clock that a test sets."""

    def __init__(self, ahead_s: float = 0.0) -> None:
        self.ahead_s = ahead_s

    def __call__(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC) + dt.timedelta(seconds=self.ahead_s)


def holder(api: LeaseApiServer) -> str | None:
    return str(api.lease["spec"]["holderIdentity"]) if api.lease else None


@pytest.mark.parametrize("ahead_s", [3600.0, -3600.0])
async def test_a_process_whose_clock_is_wrong_gives_the_lease_back_until_it_is_right(
    ahead_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_module, "CLOCK_RETRY_S", 0.01)
    api, wall, leading = LeaseApiServer(), WallClock(ahead_s), Leading()
    election = LeaderElection(cast(Any, api), "onair-system", "first", SETTINGS, wall)
    with capture_logs() as logs:
        campaign = asyncio.create_task(election.campaign(leading))
        await until(lambda: api.version >= 5, "it has tried again", 10, poll_s=0)
    assert (leading.began, holder(api)) == (0, "")
    told = [each for each in logs if each["event"] == "clock.wrong"]
    assert {each["log_level"] for each in told} == {"error"}
    assert told[0]["ahead_s"] == pytest.approx(ahead_s, abs=5)
    measured = REGISTRY.get_sample_value("onair_operator_clock_ahead_seconds")
    assert measured == pytest.approx(ahead_s, abs=5)
    wall.ahead_s = 0.0
    await until(election.may_act, "it may act", 10, poll_s=0)
    assert REGISTRY.get_sample_value("onair_operator_clock_ahead_seconds") == 0
    campaign.cancel()


@pytest.mark.parametrize("ahead_s", [3600.0, -3600.0])
async def test_a_leader_whose_clock_is_set_wrong_acts_no_more_and_another_leads(ahead_s: float) -> None:
    api, wall, leading = LeaseApiServer(), WallClock(), Leading()
    election = LeaderElection(cast(Any, api), "onair-system", "first", SETTINGS, wall)
    other = LeaderElection(cast(Any, api), "onair-system", "second", SETTINGS)
    campaign = asyncio.create_task(election.campaign(leading))
    await until(election.may_act, "it may act", 10, poll_s=0)
    following = asyncio.create_task(other.campaign(for_ever))
    wall.ahead_s = ahead_s
    assert not election.may_act(), "at once, though nothing was written since"
    await until(other.may_act, "the other may act", 10, poll_s=0)
    assert (election.leading, leading.began) == (False, 1)
    for each in (campaign, following):
        each.cancel()


@pytest.mark.parametrize("ahead_s", [50.0, -50.0])
async def test_a_clock_that_is_a_little_off_leads(ahead_s: float) -> None:
    api = LeaseApiServer()
    election = LeaderElection(cast(Any, api), "onair-system", "first", SETTINGS, WallClock(ahead_s))
    campaign = asyncio.create_task(election.campaign(for_ever))
    await until(election.may_act, "it may act", 10, poll_s=0)
    campaign.cancel()


async def test_who_waits_for_the_lease_knows_of_its_wrong_clock_before_it_leads() -> None:
    api = LeaseApiServer()
    first = LeaderElection(cast(Any, api), "onair-system", "first", SETTINGS)
    campaign = asyncio.create_task(first.campaign(for_ever))
    await until(first.may_act, "it may act", 10, poll_s=0)
    second = LeaderElection(cast(Any, api), "onair-system", "second", SETTINGS, WallClock(3600.0))
    with capture_logs() as logs:
        waiting = asyncio.create_task(second.campaign(for_ever))
        await until(lambda: [each for each in logs if each["event"] == "clock.wrong"], "it is told", 10)
        seen = api.version
        await until(lambda: api.version > seen + 3, "it has looked again", 10, poll_s=0)
    assert len([each for each in logs if each["event"] == "clock.wrong"]) == 1
    assert first.may_act()
    for each in (campaign, waiting):
        each.cancel()
