"""The clients of all encoders that are followed, by pod uid."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine

from onair_operator.encoder.client import EncoderClient
from onair_operator.encoder.observed import EncoderView, PodView
from onair_operator.encoder.pod_identity import OperatorKey


class Fleet:
    def __init__(
        self,
        key: OperatorKey,
        changed: Callable[[str], None],
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """
        Args:
            changed: called with the name of the project whose encoder made a transition.
            leads: whether this process may hand programmes over at the moment.
        """
        self._key = key
        self._changed = changed
        self._leads = leads
        self._clients: dict[str, EncoderClient] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def follow(
        self,
        project: str,
        pod: PodView,
        certificate_pem: str,
        *,
        replaced: bool = False,
        stopped: bool = False,
    ) -> None:
        """Follows a pod from now on; a new address makes a new client.

        Args:
            replaced: another encoder takes its place, so it is told to yield.
            stopped: its run is over, so it is told to end its streams.
        """
        known = self._clients.get(pod.uid)
        if known and known.pod.ip != pod.ip:
            self.drop(pod.uid)
            known = None
        if known is None and pod.ip:
            known = EncoderClient(
                pod, certificate_pem, self._key, lambda: self._changed(project), self._leads
            )
            self._clients[pod.uid] = known
        if known and replaced:
            known.replace()
        if known and stopped:
            known.stop()

    def drop(self, pod_uid: str) -> None:
        """Follows it no longer."""
        if client := self._clients.pop(pod_uid, None):
            self._end(client.close())

    def part(self, pod_uid: str) -> None:
        """Follows it no longer, as its pod is no object any more; what still responds is told to yield."""
        if client := self._clients.pop(pod_uid, None):
            self._end(client.part())

    def _end(self, ending: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(ending)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def client(self, pod_uid: str) -> EncoderClient | None:
        return self._clients.get(pod_uid)

    def views(self, pod_uids: list[str]) -> dict[str, EncoderView]:
        return {uid: self._clients[uid].view for uid in pod_uids if uid in self._clients}

    def silent_nodes(self, for_s: float) -> set[str]:
        """Nodes of encoders without a status for so long."""
        now = time.monotonic()
        return {
            client.pod.node
            for client in self._clients.values()
            if client.pod.node and not client.connected and now - client.silent_since >= for_s
        }

    async def close(self) -> None:
        for uid in list(self._clients):
            self.drop(uid)
        await asyncio.gather(*self._closing, return_exceptions=True)
