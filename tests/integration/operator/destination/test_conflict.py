"""Two shows that publish with one key, on a real API server."""

from __future__ import annotations

import pytest
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.kube.apis import EVENTS
from onair_crds.shapes import Document
from onair_operator.cluster import claimed_streams


async def conflicts(cluster: OperatedNamespace) -> dict[str, str]:
    found = {}
    for name in ("one-main", "two-main"):
        status: Document = ((await cluster.get("Destination", name)) or {}).get("status", {})
        for condition in status.get("conditions", []):
            if condition["type"] == "Conflicted":
                found[name] = str(condition["message"])
    return found


async def test_two_shows_of_one_address_and_key_are_both_told_while_both_are_on_air(
    cluster: OperatedNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claimed_streams, "SETTLING_S", 0.5)
    await cluster.collection()
    for name, url in {"one": "rtmp://media.example/live", "two": "rtmp://MEDIA.example/live/"}.items():
        await cluster.credentials(f"{name}-key", streamKey="hidden")
        await cluster.project(name=name, broadcast={"state": "Running", "id": "first"})
        reference = {"name": f"{name}-key", "key": "streamKey"}
        address = {"rtmpPush": {"url": url, "keySecretRef": reference}}
        await cluster.create("Destination", f"{name}-main", {"projectId": name, "address": address})
    async with cluster.operator():
        await cluster.pod("one-first-1")
        await cluster.bind("one-first-1", "node-a")
        await cluster.phase("Starting", "one")
        await cluster.pod("two-first-1")
        await cluster.bind("two-first-1", "node-b")

        async def both() -> dict[str, str] | None:
            found = await conflicts(cluster)
            return found if len(found) == 2 else None

        found = await until(both, "both are told")
        assert found["one-main"].startswith("destination two-main of project two is on air with the same")
        assert "hidden" not in str(found)
        await cluster.patch("Project", "two", {"broadcast": {"state": "Stopped"}})

        async def neither() -> bool:
            return not await conflicts(cluster)

        await until(neither, "neither is told")
        events = (await cluster.client.list(EVENTS, cluster.namespace))["items"]
        named = [e["involvedObject"]["name"] for e in events if e["reason"] == "StreamKeyInUse"]
        assert sorted(named) == ["one-main", "two-main"]
