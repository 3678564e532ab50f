"""A tenant's largest requests, as many at once as it likes; each again as soon as it is answered.

    python large_requests.py PORT TOKEN KIND CLIENTS

KIND is `batches`, which change all layers of a layout, one layout for each client, or `reads` of a
collection whose sources have 8 MB of metadata. A line is printed once they have begun. Once it is ended it
prints how many were answered, by status.
"""

from __future__ import annotations

import asyncio
import collections
import json
import os
import sys
from typing import Any

import httpx

LAYERS = 490
DATA = {"text": "x" * 500, "list": [1, 2, 3, {"b": 1}] * 5}
SOURCES, METADATA = 40, {"text": "x" * 200_000}
TIMEOUT_S = 60.0


class LargeTenant:
    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self.answers: collections.Counter[str] = collections.Counter()

    async def _ok(self, method: str, path: str, body: object = None) -> Any:
        response = await self._http.request(method, path, json=body)
        return response.raise_for_status().json()

    async def begin(self, kind: str) -> None:
        made = (await self._ok("POST", "/live/v2/collection", {}))["collection"]["collectionId"]
        self._collection = f"/live/v2/collection/{made}"
        project = (await self._ok("POST", f"{self._collection}/project", {}))["project"]["projectId"]
        self._parents = {"collectionId": made, "projectId": project}
        for _ in range(SOURCES if kind == "reads" else 0):
            source = {"address": {"rtmpPush": {}}, "metadata": METADATA}
            await self._ok("POST", f"{self._collection}/source", source)

    async def request(self, kind: str) -> tuple[str, str, str | None]:
        """Method, path and body of what a client asks again and again."""
        if kind == "reads":
            return "GET", self._collection, None
        layout = (await self._ok("POST", "/layout/v2/layouts", self._parents))["id"]
        path = f"/layout/v2/layouts/{layout}/layers/batch"
        created = {"layers": [{"create": {"type": "text", "data": DATA}}] * LAYERS}
        items = (await self._ok("POST", path, created))["layers"]
        changes = [{"update": {"id": each["create"]["id"], "x": 5, "data": DATA}} for each in items]
        return "POST", path, json.dumps({"layers": changes})

    async def again(self, method: str, path: str, body: str | None) -> None:
        while True:
            response = await self._http.request(method, path, content=body)
            self.answers[str(response.status_code)] += 1
            if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
                await asyncio.sleep(float(response.headers["Retry-After"]))


async def main(port: str, token: str, kind: str, clients: int) -> None:
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}",
        headers={"Authorization": f"Bearer {token}"},
        timeout=TIMEOUT_S,
        trust_env=False,
        limits=httpx.Limits(max_connections=clients + 1),
    ) as http:
        tenant = LargeTenant(http)
        await tenant.begin(kind)
        requests = [await tenant.request(kind) for _ in range(clients)]
        tasks = [asyncio.create_task(tenant.again(*each)) for each in requests]
        while not tenant.answers:
            await asyncio.sleep(0.05)
            for each in tasks:
                if each.done():
                    each.result()
        print(json.dumps({"begun": kind}), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print(json.dumps(tenant.answers), flush=True)
        os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
