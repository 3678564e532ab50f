"""Lists come in pages that are worked on in one go each."""

from __future__ import annotations

import asyncio
import base64
import errno
from pathlib import Path
from typing import Any, cast

import pytest
from kubernetes.aio import client as kubernetes_client
from kubernetes.aio.config import ConfigException

from onair_crds.kube import client
from onair_crds.kube.apis import PODS
from onair_crds.kube.client import (
    FIRST_PAGE,
    LARGEST_PAGE,
    PAGE_BYTES,
    SMALLEST_PAGE,
    KubeClient,
    next_page,
)
from onair_crds.kube.errors import ApiUnavailable, ApiUnreachable

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {token: t}}]
clusters: [{name: a, cluster: {server: "https://10.96.0.1:443"}}]
"""


def test_pages_of_large_objects_are_short_and_those_of_small_ones_long() -> None:
    assert next_page(100, PAGE_BYTES) == 100
    assert next_page(100, 10 * PAGE_BYTES) == 10
    assert next_page(10, 10 * 1024 * 1024) == SMALLEST_PAGE == 1
    assert next_page(SMALLEST_PAGE, 1000 * PAGE_BYTES) == SMALLEST_PAGE
    assert next_page(200, PAGE_BYTES // 3 * 2) == 300
    assert next_page(LARGEST_PAGE, 0) == LARGEST_PAGE


def test_a_page_is_at_most_twice_as_long_as_the_one_before() -> None:
    """Small objects may come before large ones."""
    limits = [FIRST_PAGE]
    while limits[-1] < LARGEST_PAGE:
        limits.append(next_page(limits[-1], 1000))
    assert limits == [10, 20, 40, 80, 160, 320, 500]


@pytest.mark.parametrize(
    "payload", [b"<html>bad gateway</html>", b'"bad gateway"', b"[]", b"null", b"[" * 50_000]
)
def test_what_answers_in_the_api_servers_place_is_no_server(payload: bytes) -> None:
    with pytest.raises(ApiUnreachable, match="no JSON object"):
        client._decoded(payload)
    error = client._error(502, payload)
    assert isinstance(error, ApiUnavailable)
    assert payload[:200].decode() == error.message
    assert not client._error(404, payload).transient


@pytest.mark.parametrize(
    "payload",
    [
        b'{"message": "maintenance"}',
        b'{"items": [], "message": "maintenance"}',
        b'{"items": {}, "metadata": {}}',
        b'{"items": [], "metadata": null}',
        b'{"items": [], "metadata": {}}',
        b'{"items": [{}], "metadata": {"resourceVersion": "7"}}',
    ],
)
def test_an_object_that_is_no_list_is_not_the_api_servers(payload: bytes) -> None:
    with pytest.raises(ApiUnreachable, match="no list"):
        client._list(payload)


@pytest.mark.parametrize(
    "line",
    [
        b'{"message": "maintenance"}',
        b'{"type": "ADDED"}',
        b'{"type": "ADDED", "object": null}',
        b'{"type": "ADDED", "object": {"metadata": {}}}',
        b'{"type": "BOOKMARK", "object": {}}',
    ],
)
def test_a_line_that_is_no_event_is_not_the_api_servers(line: bytes) -> None:
    with pytest.raises(ApiUnreachable, match="no event"):
        client._event(line)


@pytest.mark.parametrize(
    "error", [OSError(errno.EMFILE, "too many files"), ConfigException("Token file exists but empty.")]
)
async def test_a_request_whose_token_cannot_be_read_has_failed_as_one_without_a_response(
    error: Exception,
) -> None:
    def read_token(_: object) -> None:
        raise error

    configuration = kubernetes_client.Configuration()
    configuration.api_key = {"BearerToken": "former"}
    cast("Any", configuration).refresh_api_key_hook = read_token
    async with KubeClient(kubernetes_client.ApiClient(configuration)) as kube:
        with pytest.raises(ApiUnreachable, match=str(error.args[-1])):
            await kube.list(PODS, "shows")
        with pytest.raises(ApiUnreachable):
            async with kube.stream(PODS, "shows", timeout_s=5):
                pass


async def test_an_error_that_breaks_off_is_the_api_servers_whatever_was_asked() -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 500\r\n\r\n{"kind"')
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(break_off, "127.0.0.1", 0)
    configuration = kubernetes_client.Configuration()
    configuration.host = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with KubeClient(kubernetes_client.ApiClient(configuration)) as kube:
        with pytest.raises(ApiUnavailable):
            await kube.get(PODS, "shows", "pod")
        with pytest.raises(ApiUnavailable):
            async with kube.stream(PODS, "shows", timeout_s=5) as events:
                await anext(events)
    server.close()


async def test_a_response_without_a_date_says_no_time() -> None:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(respond, "127.0.0.1", 0)
    configuration = kubernetes_client.Configuration()
    configuration.host = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with KubeClient(kubernetes_client.ApiClient(configuration)) as kube:
        with pytest.raises(ApiUnreachable, match="no date"):
            await kube.time(PODS, "shows")
    server.close()


def test_an_object_that_is_nested_too_deeply_does_not_hide_the_others() -> None:
    deep = b"[" * 5000 + b"]" * 5000
    page = client._decoded(b'{"items": [{"spec": {"metadata": ' + deep + b'}}, {"spec": {"metadata": 1}}]}')
    assert [each["spec"]["metadata"] == 1 for each in page["items"]] == [False, True]


async def test_a_proxys_password_is_sent_to_it_and_in_no_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG)
    for name in ("https_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:p%40ss@proxy:3128")
    async with await KubeClient.connect(str(kubeconfig)) as kube:
        assert kube.configuration.proxy == "http://proxy:3128"
        sent = kube.configuration.proxy_headers["Proxy-Authorization"]
        assert base64.b64decode(sent.removeprefix("Basic ")) == b"me:p@ss"
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    async with await KubeClient.connect(str(kubeconfig)) as kube:
        assert (kube.configuration.proxy, kube.configuration.proxy_headers) == ("http://proxy:3128", None)
