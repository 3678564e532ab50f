"""Access to resources as plain JSON documents, for the facade and the operator alike.

A thin layer over `kubernetes.aio`: it brings configuration, authentication and
the connection pool; this adds the paths, the patch content types and errors
with a meaning. The library never retries POST and PATCH, and neither do we.
Needs the extra `operator` or `api`.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from typing import Any, Self, cast

import aiohttp
import structlog
from kubernetes.aio import client, config

from onair_crds.contract.labels import PRODUCT
from onair_crds.kube.apis import Api
from onair_crds.kube.deep_json import loads
from onair_crds.kube.encoded_requests import EncodedRequests, encoded
from onair_crds.kube.errors import ApiError, ApiUnavailable, ApiUnreachable
from onair_crds.kube.line_splitter import LineSplitter
from onair_crds.kube.proxy import proxy_of, without_password
from onair_crds.shapes import Document, JsonPatch

log = structlog.get_logger()

REQUEST_TIMEOUT_S = 10.0
FIRST_PAGE, SMALLEST_PAGE, LARGEST_PAGE = 10, 1, 500
"""Objects in one response to a list."""
GROWTH = 2
"""A page has at most so many times as many as the one before, which may have had none of the large ones."""
JSON = "application/json"
METADATA_LIST = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
PAGE_BYTES = 512 * 1024
"""The size of a response that a page aims at: decoding a large one would block the event loop."""


def next_page(limit: int, received_bytes: int) -> int:
    """How many objects to ask for, after so many came in so many bytes."""
    fitting = limit * PAGE_BYTES // max(1, received_bytes)
    return max(SMALLEST_PAGE, min(LARGEST_PAGE, GROWTH * limit, fitting))


class KubeClient:
    """Requests to one API server. Use as an async context manager."""

    def __init__(self, api_client: client.ApiClient, *, strict: bool = False) -> None:
        """
        Args:
            strict: a write with a field that the API server does not know is refused. Otherwise such fields
                are omitted without a word.
        """
        self._api = api_client
        api_client.rest_client = EncodedRequests(api_client.configuration)
        self._of_writes = {"fieldValidation": "Strict"} if strict else None

    @classmethod
    async def connect(
        cls, kubeconfig: str | None = None, *, program: str = PRODUCT, strict: bool = False
    ) -> Self:
        """A client for the given kubeconfig file, else for the pod it runs in, else for `KUBECONFIG`.

        Args:
            program: the name that the API server logs, and has in `managedFields` for what it writes.
            strict: as above.
        """
        configuration = client.Configuration()
        load: Any = config
        if kubeconfig is None and "KUBERNETES_SERVICE_HOST" in os.environ:
            load.load_incluster_config(client_configuration=configuration)
        else:
            await load.load_kube_config(config_file=kubeconfig, client_configuration=configuration)
        configuration.connection_pool_maxsize = 64
        # The library looks for a proxy, and for credentials in a netrc file, before each request, in a thread
        configuration.client_session_kwargs = {"trust_env": False}
        if proxy := configuration.proxy or proxy_of(configuration.host):
            configuration.proxy, headers = without_password(proxy)
            configuration.proxy_headers = headers or configuration.proxy_headers
        api_client = client.ApiClient(configuration)
        api_client.user_agent = program
        return cls(api_client, strict=strict)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await cast("Any", self._api).close()

    @property
    def configuration(self) -> Any:
        """Server, certificates and token as `kubernetes.aio` loaded them."""
        return self._api.configuration

    async def get(self, api: Api, namespace: str | None, name: str) -> Document:
        return await self._request("GET", api.path(namespace, name))

    async def list(self, api: Api, namespace: str | None, **query: str) -> Document:
        """The whole list document, fetched in pages: `items` and `metadata.resourceVersion`."""
        items: list[Document] = []
        async for page in self.pages(api, namespace, **query):
            items += page["items"]
        return {**page, "items": items}

    async def pages(
        self, api: Api, namespace: str | None, *, accept: str = JSON, **query: str
    ) -> AsyncIterator[Document]:
        """A list in parts of one resourceVersion, each small enough to be worked on in one go.

        Args:
            accept: METADATA_LIST where objects need no spec and no status, which are the larger part of many.

        Raises:
            ApiError: a page could not be had; one with the reason Expired, that the list took too long.
        """
        limit = FIRST_PAGE
        while True:
            payload = await self._payload(
                "GET",
                api.path(namespace),
                query={"limit": str(limit), **query},
                accept=accept,
            )
            yield (page := _list(payload))
            if not (following := page["metadata"].get("continue")):
                return
            query["continue"] = following
            limit = next_page(limit, len(payload))

    async def version(self, api: Api, namespace: str | None, **query: str) -> int:
        """The resourceVersion that the API server has now, by a list of one object."""
        query["limit"] = "1"
        payload = await self._payload("GET", api.path(namespace), query=query, accept=METADATA_LIST)
        return int(_list(payload)["metadata"]["resourceVersion"])

    async def time(self, api: Api, namespace: str | None) -> dt.datetime:
        """The API server's time, by the date of a list of one object; never later than it is now.

        Raises:
            ApiError: it did not respond, or does not say.
        """
        response = await self._send(
            "GET", api.path(namespace), None, {"limit": "1"}, None, REQUEST_TIMEOUT_S, METADATA_LIST
        )
        await _read(response)
        try:
            return parsedate_to_datetime(response.response.headers["Date"]).astimezone(dt.UTC)
        except (KeyError, ValueError) as error:
            raise ApiUnreachable(503, "ServiceUnavailable", "the response has no date") from error

    async def create(self, api: Api, namespace: str | None, document: Document) -> Document:
        return await self._request("POST", api.path(namespace), document)

    async def replace(self, api: Api, namespace: str | None, name: str, document: Document) -> Document:
        """Replaces the object; `metadata.resourceVersion` in the document makes it a compare-and-swap."""
        return await self._request("PUT", api.path(namespace, name), document)

    async def json_patch(
        self, api: Api, namespace: str | None, name: str, operations: JsonPatch, subresource: str = ""
    ) -> Document:
        """Applies a JSON patch (RFC 6902); a failed `test` or stale resourceVersion raises a conflict."""
        return await self._request(
            "PATCH", api.path(namespace, name, subresource), operations, "application/json-patch+json"
        )

    async def merge_patch(
        self, api: Api, namespace: str | None, name: str, patch: Document, subresource: str = ""
    ) -> Document:
        """Applies a merge patch (RFC 7386); `metadata.resourceVersion` in it makes it a compare-and-swap."""
        return await self._request(
            "PATCH", api.path(namespace, name, subresource), patch, "application/merge-patch+json"
        )

    async def delete(
        self,
        api: Api,
        namespace: str | None,
        name: str,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period_s: int | None = None,
    ) -> Document:
        """Deletes the object; uid and resourceVersion are preconditions."""
        preconditions = {k: v for k, v in (("uid", uid), ("resourceVersion", resource_version)) if v}
        options: Document = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if preconditions:
            options["preconditions"] = preconditions
        if grace_period_s is not None:
            options["gracePeriodSeconds"] = grace_period_s
        return await self._request("DELETE", api.path(namespace, name), options)

    @asynccontextmanager
    async def stream(
        self, api: Api, namespace: str | None, *, timeout_s: float, **query: str
    ) -> AsyncIterator[AsyncIterator[Document]]:
        """A watch: yields an iterator of its events (`type`, `object`), ended by the server or the timeout.

        Args:
            timeout_s: how long no bytes may come before the watch is given up.
            query: `resourceVersion`, `allowWatchBookmarks` … as in the Kubernetes API.
        """
        timeout = aiohttp.ClientTimeout(total=None, connect=REQUEST_TIMEOUT_S, sock_read=timeout_s)
        response = await self._send("GET", api.path(namespace), None, {**query, "watch": "1"}, None, timeout)
        try:
            yield self._lines(response)
        finally:
            response.response.close()

    async def _lines(self, response: Any) -> AsyncIterator[Document]:
        try:
            if response.status >= 400:
                raise _error(response.status, await response.read())
            lines = LineSplitter()  # aiohttp refuses those above 128 KiB, and a resource may have 1.5 MiB
            async for chunk in response.response.content.iter_any():
                for line in lines.ended_by(chunk):
                    yield _event(line)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ApiUnavailable(503, "WatchBroken", str(error) or type(error).__name__) from error

    async def _request(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str | None = None,
    ) -> Document:
        query = self._of_writes if method in ("POST", "PUT", "PATCH") else None
        try:
            return _decoded(await self._payload(method, path, body, content_type, query))
        except ApiError as error:
            if error.unknown_fields:
                # Not the message: that of a patch has the whole object in it
                log.error("write.fields_unknown", method=method, path=path, fields=error.unknown_fields)
            raise

    async def _payload(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str | None = None,
        query: dict[str, str] | None = None,
        accept: str = JSON,
    ) -> bytes:
        return await _read(
            await self._send(method, path, body, query, content_type, REQUEST_TIMEOUT_S, accept)
        )

    async def _send(
        self,
        method: str,
        path: str,
        body: Any,
        query: dict[str, str] | None,
        content_type: str | None,
        deadline: Any,
        accept: str = JSON,
    ) -> Any:
        headers = {"Accept": accept}
        if content_type or body is not None:
            headers["Content-Type"] = content_type or "application/json"
        try:
            # Reads the token's file now and then
            _, url, headers, _, _ = await self._api.param_serialize(
                method,
                path,
                query_params=list((query or {}).items()),
                header_params=headers,
                auth_settings=["BearerToken"],
            )
            content = None if body is None else encoded(body)
            return await self._api.call_api(method, url, headers, content, _request_timeout=deadline)
        except (aiohttp.ClientError, TimeoutError, OSError, config.ConfigException) as error:
            raise ApiUnreachable(503, "ServiceUnavailable", str(error) or "no response in time") from error


async def _read(response: Any) -> bytes:
    """The content of a response.

    Raises:
        ApiError: it is that of an error, or broke off.
    """
    try:
        payload: bytes = await response.read()
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ApiUnreachable(503, "ServiceUnavailable", str(error) or "the response broke off") from error
    if response.status >= 400:
        raise _error(response.status, payload)
    return payload


def _decoded(payload: bytes) -> Document:
    """The object that a response is; what answers in the API server's place may say anything.

    Raises:
        ApiUnreachable: it is none, so whether the request took effect is not known.
    """
    try:
        document = loads(payload)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ApiUnreachable(503, "ServiceUnavailable", "the response is no JSON object")
    return document


def _list(payload: bytes) -> Document:
    """The list, or the part of one, that a response is.

    Raises:
        ApiUnreachable: it is none.
    """
    page = _decoded(payload)
    items = page.get("items", ...)
    if not isinstance(items, list | None) or not all(map(_is_object, (page, *(items or ())))):
        raise ApiUnreachable(503, "ServiceUnavailable", "the response is no list")
    page["items"] = items or []  # null where a list of metadata is empty
    return page


def _event(line: bytes) -> Document:
    """The event that a line of a watch is.

    Raises:
        ApiUnreachable: it is none.
    """
    event = _decoded(line)
    type_, document = event.get("type"), event.get("object")
    if type_ == "ERROR" and isinstance(document, dict):
        return event
    if not isinstance(type_, str) or not _is_object(document):
        raise ApiUnreachable(503, "WatchBroken", "a line of the watch is no event")
    return event


def _is_object(value: Any) -> bool:
    """Whether it has a version, as all objects and lists have."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(metadata, dict) and str(metadata.get("resourceVersion")).isdecimal()


def _error(status: int, payload: bytes) -> ApiError:
    try:
        response = _decoded(payload)
        reason, message = str(response.get("reason", "")), str(response.get("message", ""))
        causes = (response.get("details") or {}).get("causes") or []
    except ApiUnreachable:
        reason, message, causes = "", payload[:200].decode(errors="replace"), []
    kind = ApiUnavailable if status >= 500 or status == 429 else ApiError
    return kind(status, reason, message, causes)
