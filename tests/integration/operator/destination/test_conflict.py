"""Two shows that publish with one key, on a real API server."""

from __future__ import annotations

import pytest
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.kube.apis import EVENTS
from onair_crds.shapes import Document
from onair_operator.cluster import claimed_streams


async def conflicts(operated_namespace: OperatedNamespace) -> dict[str, str]:
    found = {}
    for name in ("one-main", "two-main"):
        status: Document = ((await operated_namespace.get("Destination", name)) or {}).get("status", {})
        for condition in status.get("conditions", []):
            if condition["type"] == "Conflicted":
                found[name] = str(condition["message"])
    return found


async def test_two_shows_of_one_address_and_key_are_both_told_while_both_are_on_air(
    operated_namespace: OperatedNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claimed_streams, "SETTLING_S", 0.5)
    await operated_namespace.collection()
    for name, url in {"one": "rtmp://media.example/live", "two": "rtmp://MEDIA.example/live/"}.items():
        await operated_namespace.credentials(f"{name}-key", streamKey="hidden")
        await operated_namespace.project(name=name, broadcast={"state": "Running", "id": "first"})
        reference = {"name": f"{name}-key", "key": "streamKey"}
        address = {"rtmpPush": {"url": url, "keySecretRef": reference}}
        await operated_namespace.create(
            "Destination", f"{name}-main", {"projectId": name, "address": address}
        )
    async with operated_namespace.operator():
        await operated_namespace.pod("one-first-1")
        await operated_namespace.bind("one-first-1", "node-a")
        await operated_namespace.phase("Starting", "one")
        await operated_namespace.pod("two-first-1")
        await operated_namespace.bind("two-first-1", "node-b")

        async def both() -> dict[str, str] | None:
            found = await conflicts(operated_namespace)
            return found if len(found) == 2 else None

        found = await until(both, "both are told")
        assert found["one-main"].startswith("destination two-main of project two is on air with the same")
        assert "hidden" not in str(found)
        await operated_namespace.patch("Project", "two", {"broadcast": {"state": "Stopped"}})

        async def neither() -> bool:
            return not await conflicts(operated_namespace)

        await until(neither, "neither is told")
        events = (await operated_namespace.client.list(EVENTS, operated_namespace.namespace))["items"]
        named = [e["involvedObject"]["name"] for e in events if e["reason"] == "StreamKeyInUse"]
        assert sorted(named) == ["one-main", "two-main"]
