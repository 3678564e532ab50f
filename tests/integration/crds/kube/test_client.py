"""Lists and errors of a real API server."""

from __future__ import annotations

import datetime as dt
from functools import partial
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from onair_crds.kube.apis import CUSTOM, SECRETS, Api
from onair_crds.kube.client import JSON, METADATA_LIST, KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import API_VERSION, GROUP, VERSION
from onair_crds.shapes import Document, JsonPatch


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


@pytest.mark.parametrize("strict", [False, True])
async def test_what_the_definitions_have_not_is_refused_where_it_would_be_lost(
    kubeconfig: Path, crds: None, namespace: str, *, strict: bool
) -> None:
    api, name = CUSTOM["Collection"], "made"
    made: Document = {
        "apiVersion": API_VERSION,
        "kind": "Collection",
        "metadata": {"name": name},
        "spec": {"owner": {"serviceId": "s", "serviceUserId": "u"}},
    }
    of_a_later_version = {**made, "metadata": {"name": "later"}, "spec": {**made["spec"], "later": 1}}
    change: JsonPatch = [{"op": "add", "path": "/spec/later", "value": 1}]
    async with await KubeClient.connect(str(kubeconfig), strict=strict) as client:
        await client.create(api, namespace, made)
        known: JsonPatch = [{"op": "add", "path": "/spec/metadata", "value": {"anything": 1}}]
        patched = await client.json_patch(api, namespace, name, known)
        assert patched["spec"]["metadata"] == {"anything": 1}
        for write in (
            partial(client.create, api, namespace, of_a_later_version),
            partial(client.json_patch, api, namespace, name, change),
        ):
            if strict:
                with pytest.raises(ApiError) as refused, capture_logs() as logs:
                    await write()
                assert [each["fields"] for each in logs] == [["spec.later"]]
                assert "serviceId" not in str(logs), "values may be secret"
                assert refused.value.unknown_fields == ["spec.later"]
            else:
                assert "later" not in (await write())["spec"]


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
