"""Lists and errors of a real API server."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from onair_crds.kube.apis import SECRETS, Api
from onair_crds.kube.client import JSON, METADATA_LIST, KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import GROUP, VERSION


@pytest.mark.parametrize("accept", [JSON, METADATA_LIST])
async def test_a_list_of_nothing_has_no_items(kubeconfig: Path, namespace: str, accept: str) -> None:
    async with await KubeClient.connect(str(kubeconfig)) as client:
        pages = [page async for page in client.pages(SECRETS, namespace, accept=accept)]
    assert [page["items"] for page in pages] == [[]]


async def test_the_version_is_had_without_a_list_of_everything(kubeconfig: Path, namespace: str) -> None:
    async with await KubeClient.connect(str(kubeconfig)) as client:
        query = {"fieldSelector": "type=Opaque"}
        before = await client.version(SECRETS, namespace, **query)
        made = await client.create(SECRETS, namespace, {"metadata": {"name": "made"}})
        after = await client.version(SECRETS, namespace, **query)
    assert before < int(made["metadata"]["resourceVersion"]) <= after


async def test_the_api_server_says_what_time_it_is(kubeconfig: Path, namespace: str) -> None:
    second = dt.timedelta(seconds=1)
    async with await KubeClient.connect(str(kubeconfig)) as client:
        earliest = dt.datetime.now(dt.UTC) - second
        time = await client.time(SECRETS, namespace)
        assert earliest <= time <= dt.datetime.now(dt.UTC)
        with pytest.raises(ApiError):
            await client.time(Api(f"/apis/{GROUP}/{VERSION}", "hovercrafts"), namespace)


async def test_what_a_program_writes_is_managed_by_its_name(kubeconfig: Path, namespace: str) -> None:
    for program in ("onair-operator", "onair-api"):
        async with await KubeClient.connect(str(kubeconfig), program=program) as client:
            made = await client.create(SECRETS, namespace, {"metadata": {"name": program}})
            assert [each["manager"] for each in made["metadata"]["managedFields"]] == [program]


async def test_an_object_that_is_not_there_is_told_from_a_kind_that_is_not_served(
    kubeconfig: Path, namespace: str
) -> None:
    async with await KubeClient.connect(str(kubeconfig)) as client:
        with pytest.raises(ApiError) as missing:
            await client.get(SECRETS, namespace, "none")
        with pytest.raises(ApiError) as nowhere:
            await client.create(SECRETS, "no-such-namespace", {"metadata": {"name": "none"}})
        with pytest.raises(ApiError) as unserved:
            await client.get(Api(f"/apis/{GROUP}/{VERSION}", "hovercrafts"), namespace, "none")
    found = [(each.value.status, each.value.not_found) for each in (missing, nowhere, unserved)]
    assert found == [(404, True), (404, True), (404, False)]
