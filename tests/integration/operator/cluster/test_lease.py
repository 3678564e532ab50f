"""One leader at a time, on a real Lease."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.waiting import seconds_until, until

from onair_crds.kube.apis import LEASES
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_operator.cluster import lease as lease_module
from onair_operator.cluster.lease import LeaderElection
from onair_operator.settings import LeaderElectionSettings

SETTINGS = LeaderElectionSettings(lease_duration_s=2.0, renew_interval_s=0.3)


@pytest.fixture
async def client(kubeconfig: Path) -> AsyncIterator[KubeClient]:
    async with await KubeClient.connect(str(kubeconfig)) as client:
        yield client


async def lead_forever() -> None:
    await asyncio.Event().wait()


async def until_leading(election: LeaderElection, timeout_s: float = 10.0) -> float:
    """How long it took."""
    return await seconds_until(lambda: election.leading, "it leads", timeout_s)


async def test_a_dead_leader_is_followed_after_its_lease_and_never_before(
    client: KubeClient, namespace: str
) -> None:
    first, second = (LeaderElection(client, namespace, name, SETTINGS) for name in ("first", "second"))
    leading = asyncio.create_task(first.campaign(lead_forever))
    await until_leading(first)
    waiting = asyncio.create_task(second.campaign(lead_forever))
    with pytest.raises(AssertionError, match="it leads"):
        await until_leading(second, timeout_s=3.0)
    leading.cancel()  # as a crash: nothing is released
    await asyncio.gather(leading, return_exceptions=True)
    took_s = await until_leading(second)
    assert SETTINGS.lease_duration_s * 0.5 < took_s < 10
    lease = await client.get(LEASES, namespace, SETTINGS.lease_name)
    assert lease["spec"]["holderIdentity"] == "second"
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_a_released_lease_is_taken_at_once(client: KubeClient, namespace: str) -> None:
    first, second = (LeaderElection(client, namespace, name, SETTINGS) for name in ("first", "second"))
    leading = asyncio.create_task(first.campaign(lead_forever))
    await until_leading(first)
    leading.cancel()
    await asyncio.gather(leading, return_exceptions=True)
    await first.release()
    waiting = asyncio.create_task(second.campaign(lead_forever))
    assert await until_leading(second) < SETTINGS.lease_duration_s
    assert second.term > first.term > 0
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_who_loses_the_lease_stops_leading_and_campaigns_again(
    client: KubeClient, namespace: str
) -> None:
    election = LeaderElection(client, namespace, "first", SETTINGS)
    campaign = asyncio.create_task(election.campaign(lead_forever))
    await until_leading(election)
    lease = await client.get(LEASES, namespace, SETTINGS.lease_name)
    lease["spec"] |= {"holderIdentity": "usurper", "renewTime": "2030-01-01T00:00:00.000000Z"}
    await client.replace(LEASES, namespace, SETTINGS.lease_name, lease)
    await until(lambda: not election.leading, "it leads no more", 5)
    assert not campaign.done()
    await until_leading(election)
    campaign.cancel()
    await asyncio.gather(campaign, return_exceptions=True)


@pytest.mark.parametrize("ahead_s", [600, -600])
async def test_who_has_another_time_than_the_api_server_does_not_lead(
    client: KubeClient, namespace: str, ahead_s: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_module, "CLOCK_RETRY_S", 0.1)

    def wrong() -> dt.datetime:
        return dt.datetime.now(dt.UTC) + dt.timedelta(seconds=ahead_s)

    first = LeaderElection(client, namespace, "first", SETTINGS, wrong)
    second = LeaderElection(client, namespace, "second", SETTINGS)
    campaigns = [asyncio.create_task(first.campaign(lead_forever))]

    async def transitions() -> int:
        try:
            lease = await client.get(LEASES, namespace, SETTINGS.lease_name)
        except ApiError:
            return 0
        return int(lease["spec"]["leaseTransitions"])

    async def given_back() -> bool:
        return await transitions() > 1

    await until(given_back, "the Lease is taken and given back", 10)
    assert not first.leading
    campaigns.append(asyncio.create_task(second.campaign(lead_forever)))
    await until_leading(second)
    with pytest.raises(AssertionError, match="it leads"):
        await until_leading(first, timeout_s=2.0)
    assert second.may_act()
    for each in campaigns:
        each.cancel()
    await asyncio.gather(*campaigns, return_exceptions=True)
