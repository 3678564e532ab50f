"""For how long the Lease of each node has not changed, by this process' own clock; and which nodes are dead.

A Lease says when it was renewed by the clock of its kubelet, which is nobody else's. So all that counts is
whether it changes while one looks, as with the Lease of a leader.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

import structlog

from onair_crds.kube.apis import LEASES
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError

log = structlog.get_logger()

LEASE_NAMESPACE = "kube-node-lease"
INTERVAL_S = 1.0
LEASES_PER_S = 200
"""Above so many nodes they are looked at less often."""
LONGEST_GAP_S = 5.0
"""Between two looks; over a longer one an API server that was unavailable may have taken no renewal."""


class NodeLeases:
    """Looks at the Leases of nodes while that is needed, whether this process leads or may have to."""

    def __init__(self, client: KubeClient, clock: Callable[[], float] = time.monotonic) -> None:
        self.unchanged_s: Mapping[str, float] = {}
        """By node, how long its Lease was seen to be the same, up to the last look; a lower bound."""
        self.dead: frozenset[str] = frozenset()
        """What the leader has found."""
        self._client = client
        self._clock = clock
        self._seen: dict[str, tuple[str, float]] = {}
        """The time in each Lease, and when it was first seen."""
        self._looked_at: float | None = None
        self._told = False
        """Of a missing right."""

    async def watch(self, needed: Callable[[], bool]) -> None:
        """Looks again and again while it is needed; ends only when cancelled."""
        while True:
            if needed():
                await self.look()
            await asyncio.sleep(max(INTERVAL_S, len(self._seen) / LEASES_PER_S))

    async def look(self) -> None:
        """Lists all Leases; where the API server does not respond, what is known stays."""
        began = self._clock()
        try:
            leases = (await self._client.list(LEASES, LEASE_NAMESPACE))["items"]
        except (ApiError, ValueError) as error:
            self._note(error)
            return
        self._told = False
        renewed = {lease["metadata"]["name"]: (lease.get("spec") or {}).get("renewTime") for lease in leases}
        renewals = {node: str(at) for node, at in renewed.items() if at}
        now = self._clock()
        bound_s = max(LONGEST_GAP_S, 3 * len(renewals) / LEASES_PER_S)
        seen = {} if self._looked_at is None or began - self._looked_at > bound_s else self._seen
        self._seen = {
            node: known if (known := seen.get(node)) and known[0] == at else (at, now)
            for node, at in renewals.items()
        }
        self._looked_at = now
        self.unchanged_s = {node: max(0.0, began - since) for node, (_, since) in self._seen.items()}

    def _note(self, error: ApiError | ValueError) -> None:
        """Logs why nothing is known: once as a warning where an administrator has to grant a right."""
        if isinstance(error, ApiError) and error.lacks_right and not self._told:
            self._told = True
            log.warning("node-leases.forbidden", error=error.message)
        else:
            log.debug("node-leases.unknown", error=str(error))

    def mark(self, node: str, *, dead: bool) -> None:
        """Notes that a node is dead, or alive again."""
        self.dead = self.dead | {node} if dead else self.dead - {node}
        log.warning("node.dead" if dead else "node.alive", node=node)

    def forget_dead(self) -> None:
        """Forgets which nodes are dead: who leads from now on finds out by itself."""
        self.dead = frozenset()
