"""API keys that come and go."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.facade import Cluster, Facade, User, wait_for

TOKEN = "/live/v2/authentication/token"


def test_an_api_key_that_is_removed_ends(
    facade: Facade, cluster: Cluster, sign_in: Callable[..., User]
) -> None:
    key = cluster.add_api_key("short-lived")
    sign_in(key=key)
    (secret,) = [
        s
        for s in cluster.secrets(cluster.release)
        if s["type"] == "onair.dev/api-key" and s["data"]["serviceId"] == "c2hvcnQtbGl2ZWQ="
    ]
    name = secret["metadata"]["name"]
    cluster.admin.delete(f"/api/v1/namespaces/{cluster.release}/secrets/{name}").raise_for_status()

    def refused() -> bool:
        return (
            facade.http.post(TOKEN, headers={"X-API-Key": key}, json={"serviceUserId": "a"}).status_code
            == 401
        )

    wait_for(refused, "the key is refused")
