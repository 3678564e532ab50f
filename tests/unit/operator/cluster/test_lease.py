"""A process that was paused does not take itself for the leader."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any, cast

import pytest
from tests.support.waiting import until

from onair_crds.kube.apis import Api
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.cluster.lease import LeaderElection
from onair_operator.settings import LeaderElectionSettings

SETTINGS = LeaderElectionSettings(lease_duration_s=8.0, renew_interval_s=0.01)


async def for_ever() -> None:
    await asyncio.Event().wait()


class LeaseApiServer:
    """Has one Lease, which may be taken by another."""

    def __init__(self) -> None:
        self.lease: Document | None = None
        self.version = 0

    async def get(self, _: Api, __: str, ___: str) -> Document:
        if self.lease is None:
            raise ApiError(404, "NotFound", "not found")
        return self.lease

    async def create(self, _: Api, __: str, document: Document) -> Document:
        self.version += 1
        metadata = {**document["metadata"], "resourceVersion": str(self.version)}
        self.lease = {**document, "metadata": metadata}
        return self.lease

    async def replace(self, api: Api, namespace: str, _: str, document: Document) -> Document:
        return await self.create(api, namespace, document)


async def test_a_leader_that_was_paused_looks_at_its_lease_before_it_acts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api, paused_s = LeaseApiServer(), 0.0
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + paused_s)
    election = LeaderElection(cast(Any, api), "onair-system", "first", SETTINGS)
    assert not election.may_act()
    campaign = asyncio.create_task(election.campaign(for_ever))
    await until(election.may_act, "it may act", 10, poll_s=0)
    paused_s = 60.0
    assert election.leading
    assert not election.may_act()
    await until(election.may_act, "it may act", 10, poll_s=0)
    campaign.cancel()


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
