"""Encoders are replaced on a real API server while a network is cut: never two of a show on air at a time.

The test is kubelet and scheduler. Operator and agents are real and talk HTTPS at addresses of the loopback.
"""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.support.cut_proxy import CutProxy, cut_proxy
from tests.support.exclusive_server import OUT_OF_TOUCH, Agents, ExclusiveServer, last_error
from tests.support.operated_namespace import OperatedNamespace
from tests.support.slow_storage import SlowStorage, stores_to
from tests.support.waiting import until

from onair_crds.contract.pod import CONTROL_PORT
from onair_crds.contract.program import Program
from onair_crds.contract.times import format_time
from onair_crds.kube.apis import CUSTOM, LEASES, PODS, SECRETS, Api
from onair_crds.shapes import Document
from onair_encoder.agent.agent import Agent, ProgramRefused
from onair_encoder.publish.destination_kinds import KINDS
from onair_operator import reconcile
from onair_operator.cluster import node_leases
from onair_operator.cluster.node_leases import LEASE_NAMESPACE
from onair_operator.cluster.world import World
from onair_operator.encoder import connection
from onair_operator.node import changing_nodes
from onair_operator.node import observe as node_module
from onair_operator.node import plan as node_plan

NAMESPACES = Api("/api/v1", "namespaces", namespaced=False)
ADDRESSES = (f"127.1.{number // 250}.{number % 250 + 1}" for number in itertools.count())
FIRST, SECOND = "show-first-1", "show-first-2"
RECORDING = {
    "objectStorage": {
        "region": "eu-central-1",
        "bucket": "recordings",
        "accessKeySecretRef": {"name": "bucket", "key": "accessKey"},
        "secretKeySecretRef": {"name": "bucket", "key": "secretKey"},
        "packaging": {"hls": {"lifecycle": {"vod": {}}}},
    }
}


class AgentKubelets:
    """Runs the pods of a show as agents in this process, each behind a network that can be cut."""

    def __init__(self, operated_namespace: OperatedNamespace, agents: Agents, stack: AsyncExitStack) -> None:
        self._cluster, self._agents, self._stack = operated_namespace, agents, stack
        self.networks: dict[str, CutProxy] = {}
        self.cut_off: set[str] = set()
        """Nodes that do not reach the API server."""

    async def start(self, pod: str, node: str) -> Agent:
        cluster = self._cluster
        await cluster.pod(pod)
        secret = await cluster.client.get(SECRETS, cluster.namespace, pod)
        identity = {name: base64.b64decode(value).decode() for name, value in secret["data"].items()}
        agent, port = await self._agents.start(pod, identity)
        address = next(ADDRESSES)
        network = cut_proxy(port, address, CONTROL_PORT)
        self.networks[pod] = await self._stack.enter_async_context(network)
        await cluster.bind(pod, node)
        await cluster.pod_is(pod, {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]})
        return agent

    async def register(self, node: str, clock_s: float = 0.0) -> None:
        """Gives a node a Lease, which it renews by a clock that is ahead by so much, until it is cut off."""
        lease = {"metadata": {"name": node}, "spec": _renewed(node, clock_s)}
        document = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", **lease}
        await self._cluster.client.create(LEASES, LEASE_NAMESPACE, document)
        self._stack.push_async_callback(self._cluster.client.delete, LEASES, LEASE_NAMESPACE, node)
        renewing = asyncio.create_task(self._renew(node, clock_s))
        self._stack.callback(renewing.cancel)

    async def _renew(self, node: str, clock_s: float) -> None:
        while node not in self.cut_off:
            change = {"spec": _renewed(node, clock_s)}
            await self._cluster.client.merge_patch(LEASES, LEASE_NAMESPACE, node, change)
            await asyncio.sleep(0.3)


def _renewed(node: str, clock_s: float) -> Document:
    at = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=clock_s)
    return {"holderIdentity": node, "renewTime": format_time(at, "microseconds")}


@pytest.fixture
def server() -> ExclusiveServer:
    return ExclusiveServer()


@pytest.fixture
async def kubelets(
    operated_namespace: OperatedNamespace,
    server: ExclusiveServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[AgentKubelets]:
    """A show with one destination; the operator runs."""
    monkeypatch.setattr(connection, "SILENCE_TIMEOUT_S", 0.5)
    monkeypatch.setattr(node_module, "SILENT_AFTER_S", 0.5)
    monkeypatch.setattr(node_plan, "STALE_AFTER_S", 2.0)
    monkeypatch.setattr(node_leases, "INTERVAL_S", 0.25)
    monkeypatch.setattr(reconcile, "NODE_INTERVAL_S", 0.25)
    async with AsyncExitStack() as stack:
        agents = Agents(tmp_path, server, monkeypatch)
        await stack.enter_async_context(operated_namespace.operator())
        stack.push_async_callback(agents.close)
        await operated_namespace.collection()
        await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
        address = {"rtmpPush": {"url": "rtmp://media.example/live"}}
        await operated_namespace.create("Destination", "main", {"projectId": "show", "address": address})
        yield AgentKubelets(operated_namespace, agents, stack)


async def on_air(server: ExclusiveServer, *epochs: int) -> None:
    async def check() -> bool:
        return server.on_air == list(epochs)

    await until(check, f"{epochs} on air")


async def epoch_of(operated_namespace: OperatedNamespace) -> int:
    status = ((await operated_namespace.get("Project", "show")) or {})["status"]
    return int(status["broadcast"]["epoch"])


async def test_an_encoder_on_a_node_that_the_api_server_cannot_reach_yields_when_it_is_evicted(
    operated_namespace: OperatedNamespace, kubelets: AgentKubelets, server: ExclusiveServer
) -> None:
    first = await kubelets.start(FIRST, "node-a")
    await on_air(server, 1)
    # Its kubelet never hears of it, so that the object stays and the container runs.
    await operated_namespace.client.delete(PODS, operated_namespace.namespace, FIRST)
    await kubelets.start(SECOND, "node-b")
    await on_air(server, 2)
    assert first.status().phase == "yielded"
    assert (server.taken, server.at_a_time) == ([1, 2], 1)


async def test_an_encoder_that_the_operator_alone_cannot_reach_stays_on_air(
    operated_namespace: OperatedNamespace,
    kubelets: AgentKubelets,
    server: ExclusiveServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged: list[str] = []
    suspects = node_module.suspects

    def noted_suspects(world: World) -> set[str]:
        found = suspects(world)
        judged.extend(found)
        return found

    monkeypatch.setattr(changing_nodes, "suspects", noted_suspects)
    await kubelets.register("node-a")
    await kubelets.register("node-b")
    first = await kubelets.start(FIRST, "node-a")
    await on_air(server, 1)
    kubelets.networks[FIRST].to_server = kubelets.networks[FIRST].to_client = False

    async def out_of_touch_and_judged_twice() -> bool:
        return first.contact.lost and judged.count("node-a") > 1

    await until(out_of_touch_and_judged_twice, "the first is out of touch, and its node was looked at")
    assert (await epoch_of(operated_namespace), server.on_air) == (1, [1])


@pytest.mark.parametrize("clock_s", [-3600.0, 3600.0], ids=["an hour behind", "an hour ahead"])
async def test_an_encoder_on_a_node_that_is_cut_off_from_the_cluster_leaves_its_place_to_the_next_one(
    operated_namespace: OperatedNamespace, kubelets: AgentKubelets, server: ExclusiveServer, clock_s: float
) -> None:
    await kubelets.register("node-a", clock_s)
    await kubelets.register("node-b", -clock_s)
    first = await kubelets.start(FIRST, "node-a")
    await on_air(server, 1)
    network = kubelets.networks[FIRST]
    network.to_server = network.to_client = False
    kubelets.cut_off.add("node-a")
    await kubelets.start(SECOND, "node-b")
    await on_air(server, 2)

    async def gave_way() -> bool:
        return OUT_OF_TOUCH in last_error(first)

    await until(gave_way, "the first leaves its place")
    assert server.taken[-1] == 2
    assert server.on_air == [2]
    network.to_server = network.to_client = True

    async def yielded() -> bool:
        return first.status().phase == "yielded"

    await until(yielded, "the first has yielded")
    assert server.on_air == [2]


async def test_a_namespace_that_is_deleted_ends_its_shows_properly_and_is_not_kept(
    operated_namespace: OperatedNamespace, kubelets: AgentKubelets, server: ExclusiveServer
) -> None:
    first = await kubelets.start(FIRST, "node-a")
    await on_air(server, 1)
    # What a namespace's controller does: pods first
    await operated_namespace.client.delete(NAMESPACES, None, operated_namespace.namespace)
    await operated_namespace.client.delete(PODS, operated_namespace.namespace, FIRST)

    async def finished() -> bool:
        return first.status().phase == "finished"

    await until(finished, "the streams are ended")
    await operated_namespace.phase("Stopped")
    await operated_namespace.client.delete(CUSTOM["Project"], operated_namespace.namespace, "show")

    async def gone() -> bool:
        return await operated_namespace.get("Project", "show") is None

    await until(gone, "the project is gone")
    assert (server.on_air, server.taken) == ([], [1])


async def test_an_encoder_that_refuses_the_programme_that_stops_it_ends_its_streams_properly(
    operated_namespace: OperatedNamespace,
    kubelets: AgentKubelets,
    server: ExclusiveServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As an encoder does that is of another version than the operator, and does not understand all of it."""
    first = await kubelets.start(FIRST, "node-a")
    await on_air(server, 1)
    refused: list[bool] = []

    async def refuse(program: Program) -> None:
        refused.append(program.stop)
        raise ProgramRefused("not understood")

    monkeypatch.setattr(first, "take", refuse)
    await operated_namespace.patch("Project", "show", {"broadcast": {"state": "Stopped"}})
    await operated_namespace.phase("Stopped")
    assert first.status().phase == "finished"
    assert server.on_air == []
    assert refused
    assert all(refused)


async def test_the_next_run_is_on_air_while_the_last_one_stores_its_recording(
    operated_namespace: OperatedNamespace,
    kubelets: AgentKubelets,
    server: ExclusiveServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage = SlowStorage()
    monkeypatch.setitem(KINDS, "HLS", stores_to(storage))
    await operated_namespace.credentials("bucket", accessKey="a", secretKey="s")
    await operated_namespace.create("Destination", "recording", {"projectId": "show", "address": RECORDING})
    first = await kubelets.start(FIRST, "node-a")
    await on_air(server, 1)

    async def records() -> bool:
        return any(state.waiting_s for state in first.status().destinations)

    await until(records, "a recording")
    await operated_namespace.patch("Project", "show", {"broadcast": {"id": "second"}})
    second = await kubelets.start("show-second-1", "node-b")
    await on_air(server, 1)
    assert (server.taken, server.at_a_time) == ([1, 1], 1)
    assert (first.status().phase, second.status().phase) == ("stopping", "starting")
    show = await operated_namespace.get("Project", "show")
    assert show
    assert [each["id"] for each in show["status"]["draining"]] == ["first"]
    assert (show["status"]["previous"]["id"], show["status"]["previous"]["phase"]) == ("first", "Archived")
    assert "deletionTimestamp" not in (await operated_namespace.pod(FIRST))["metadata"]
    storage.available.set()

    async def stored() -> bool:
        deleted = "deletionTimestamp" in (await operated_namespace.pod(FIRST))["metadata"]
        return (
            deleted and "draining" not in ((await operated_namespace.get("Project", "show")) or {})["status"]
        )

    await until(stored, "the first encoder has ended")
    assert first.status().phase in ("finished", "yielded")
    assert server.on_air == [1]

    async def told() -> bool:
        return "RecordingsStored" in await operated_namespace.events()

    await until(told, "the event, which is written beside the status")
