"""One bucket of an S3-compatible object storage: put, get, delete; what went wrong in words."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import hashlib
import re
import socket
import time
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import quote, urlsplit

import aiohttp
from awscrt import auth, http

from onair_crds.contract.program import ProgramStorage
from onair_encoder.publish.session_error import SessionError, network_error
from onair_encoder.publish.tcp_progress import unacknowledged
from onair_encoder.publish.tls import client_context

CHUNK = 64 * 1024
CONNECT_TIMEOUT_S = 5.0
LEAST_S = 1.0
"""A storage may take so long though all is well: to connect, agree on keys and write to its disks."""
LONGEST_ANSWER_S = 60.0
_CODE = re.compile(r"<Code>([A-Za-z0-9]+)</Code>")
_ANSWER_BYTES = 64 * 1024

_PERMANENT = {
    "NoSuchBucket": "bucket {bucket} was not found",
    "AccessDenied": "access to bucket {bucket} is denied",
    "AllAccessDisabled": "access to bucket {bucket} is denied",
    "AccountProblem": "access to bucket {bucket} is denied",
    "AccessControlListNotSupported": "bucket {bucket} takes no access rules of objects (acl)",
    "InvalidAccessKeyId": "the access key is not known to {server}",
    "XAdminUserNotFound": "the access key is not known to {server}",  # versitygw
    "InvalidToken": "the session token is refused by {server}",
    "SignatureDoesNotMatch": "the secret key does not fit the access key",
    "ExpiredToken": "the session token has expired",
    "AuthorizationHeaderMalformed": "bucket {bucket} is not in region {region}",
    "PermanentRedirect": "bucket {bucket} is not in region {region}",
    "IllegalLocationConstraintException": "bucket {bucket} is not in region {region}",
    "InvalidBucketName": "{bucket} is not the name of a bucket",
}
_TRANSIENT = {
    "QuotaExceeded": "the storage is full",
    "XMinioStorageFull": "the storage is full",
    "InsufficientStorage": "the storage is full",
    "EntityTooLarge": "the storage refuses a segment of this size",
    "RequestTimeTooSkewed": "the clocks of the encoder and of {server} differ",
    "SlowDown": "{server} asks to slow down",
    "ServiceUnavailable": "{server} is not available",
    "InternalError": "{server} has an internal error",
}


def lost_by(status: int, code: str, storage: ProgramStorage, server: str) -> SessionError:
    """What an answer of the storage means."""
    known = {"bucket": storage.bucket, "region": storage.region, "server": server}
    if code in _PERMANENT:
        return SessionError(_PERMANENT[code].format(**known), permanent=True)
    if code in _TRANSIENT:
        return SessionError(_TRANSIENT[code].format(**known))
    if status in (401, 403):
        return SessionError(_PERMANENT["AccessDenied"].format(**known), permanent=True)
    if status in (301, 307):
        return SessionError(_PERMANENT["PermanentRedirect"].format(**known), permanent=True)
    if status == 507:
        return SessionError(_TRANSIENT["QuotaExceeded"])
    return SessionError(f"{server} answered {status}{f' {code}' if code else ''}")


class NotReadable(SessionError):
    """What is asked for may not be read, or is not there: storages do not tell the two apart."""


class Bucket:
    """Its session is opened with the first request; `close` ends it."""

    def __init__(self, storage: ProgramStorage, timeout_s: Callable[[], float]) -> None:
        """
        Args:
            timeout_s: how long a request may make no progress, asked anew for each.
        """
        self.storage = storage
        self._timeout_s = timeout_s
        self._base, self._root = _address(storage)
        token = storage.token
        access_key, secret_key = (
            each.get_secret_value() for each in (storage.access_key, storage.secret_key)
        )
        self._credentials = (
            auth.AwsCredentialsProvider.new_static(
                access_key, secret_key, (token.get_secret_value() or None) if token else None
            )
            if access_key and secret_key
            else None
        )
        self._session: aiohttp.ClientSession | None = None
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._patience = Patience()
        self._asking = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def server(self) -> str:
        return urlsplit(self._base).netloc

    async def put(self, key: str, data: bytes | bytearray, content_type: str, cache_control: str) -> None:
        """Stores an object.

        Raises:
            SessionError: it is not known to be stored.
        """
        headers = {"content-type": content_type, "cache-control": cache_control}
        if self.storage.acl:
            headers["x-amz-acl"] = self.storage.acl
        async with self._ask("PUT", key, headers, data) as answer:
            await self._check(answer)

    async def get(self, key: str) -> bytes | None:
        """An object's content; None where there is none.

        Raises:
            NotReadable: the credentials do not allow it.
            SessionError: nobody knows.
        """
        async with self._ask("GET", key, {}) as answer:
            if answer.status == 200:
                return await answer.content.read()
            code = await self._code(answer)
            if answer.status == 404 and code in ("NoSuchKey", ""):
                return None
            lost = lost_by(answer.status, code, self.storage, self.server)
            raise NotReadable(str(lost)) if code == "AccessDenied" else lost

    async def delete(self, key: str) -> None:
        """Removes an object, if it is there.

        Raises:
            SessionError: it may still be there.
        """
        async with self._ask("DELETE", key, {}) as answer:
            if answer.status != 404:
                await self._check(answer)

    @asynccontextmanager
    async def _ask(
        self, method: str, key: str, headers: dict[str, str], data: bytes | bytearray = b""
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        self._asking += 1
        self._idle.clear()
        try:
            async with self._request(method, key, headers, data) as answer:
                yield answer
        finally:
            self._asking -= 1
            if not self._asking:
                self._idle.set()

    @asynccontextmanager
    async def _request(
        self, method: str, key: str, headers: dict[str, str], data: bytes | bytearray
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
                trust_env=False,
                connector=aiohttp.TCPConnector(socket_factory=self._socket),
                auto_decompress=False,
            )
        path = f"{self._root}/{quote(key, safe='/-_.~')}"
        digest = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
        signed = await self._signed(method, path, headers, digest)
        progress = Progress(self._unacknowledged, self._patience, len(data))
        if method == "PUT":
            signed["Content-Length"] = str(len(data))
        server = self.server
        try:
            request = asyncio.ensure_future(
                self._session.request(
                    method,
                    self._base + path,
                    headers=signed,
                    data=progress.chunks(data) if data else None,
                    ssl=await client_context() if self._base.startswith("https:") else True,
                    allow_redirects=False,
                )
            )
            answer = await progress.watch(request, self._timeout_s, server)
        except aiohttp.ClientConnectorCertificateError as error:
            raise network_error(error.certificate_error, _host(server), server) from error
        except aiohttp.ClientConnectorError as error:
            raise network_error(error.os_error, _host(server), server) from error
        except aiohttp.ServerTimeoutError as error:
            raise SessionError(f"no answer from {server}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise SessionError(f"{server} broke the connection off") from error
        try:
            async with asyncio.timeout(max(1.0, self._timeout_s())):
                yield answer
        except TimeoutError as error:
            raise SessionError(f"stalled: {server} did not end its answer") from error
        except (aiohttp.ClientError, OSError) as error:
            raise SessionError(f"{server} broke the connection off") from error
        finally:
            answer.release()

    async def _signed(self, method: str, path: str, headers: dict[str, str], digest: str) -> dict[str, str]:
        """All headers, with the signature of AWS (version 4)."""
        if self._credentials is None:
            raise SessionError("the access key or its secret is empty", permanent=True)
        request = http.HttpRequest(method, path, http.HttpHeaders([("host", self.server), *headers.items()]))
        config = auth.AwsSigningConfig(
            algorithm=auth.AwsSigningAlgorithm.V4,
            signature_type=auth.AwsSignatureType.HTTP_REQUEST_HEADERS,
            credentials_provider=self._credentials,
            region=self.storage.region,
            service="s3",
            date=dt.datetime.now(dt.UTC),
            use_double_uri_encode=False,
            should_normalize_uri_path=False,
            signed_body_value=digest,
            signed_body_header_type=auth.AwsSignedBodyHeaderType.X_AMZ_CONTENT_SHA_256,
        )
        await asyncio.wrap_future(auth.aws_sign_request(request, config))
        return dict(request.headers)

    async def _code(self, answer: aiohttp.ClientResponse) -> str:
        """The storage's own word for what is wrong."""
        text = (await answer.content.read(_ANSWER_BYTES)).decode(errors="replace")
        found = _CODE.search(text)
        return found[1] if found else ""

    async def _check(self, answer: aiohttp.ClientResponse) -> None:
        if answer.status >= 300:
            raise lost_by(answer.status, await self._code(answer), self.storage, self.server)

    def _socket(self, info: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, protocol, _, _ = info
        made = socket.socket(family, kind, protocol)
        self._sockets.add(made)
        return made

    def _unacknowledged(self) -> int:
        """Bytes that the system holds because the storage has not acknowledged them."""
        with contextlib.suppress(OSError):
            return sum(map(unacknowledged, self._sockets))
        return 0

    async def close_when_idle(self) -> None:
        """Closes after the requests that are under way."""
        await self._idle.wait()
        await self.close()

    async def close(self) -> None:
        if self._session:
            await self._session.close()
            self._session = None


class Patience:
    """How long an answer may take after everything was sent: what stands between, a proxy or the queue of a
    narrow line, may hold a segment for longer than the time-out, and to send it again would not help."""

    def __init__(self) -> None:
        self._usual_s = 0.0

    def limit_s(self, least_s: float) -> float:
        return max(least_s, 2 * self._usual_s)

    def answered(self, after_s: float) -> None:
        self._usual_s = max(after_s, 0.9 * self._usual_s)

    def exhausted(self, limit_s: float) -> None:
        """The next one is given twice as long."""
        self._usual_s = min(limit_s, LONGEST_ANSWER_S / 2)


class Progress:
    """Notices a request that goes neither on nor to its end."""

    def __init__(self, unacknowledged: Callable[[], int], patience: Patience, size: int) -> None:
        self._moved_at = time.monotonic()
        self._unacknowledged = unacknowledged
        self._patience = patience
        self._held = 0
        self._left = size

    def _look(self) -> None:
        """Bytes that left this process may still be on their way, for seconds on a narrow one."""
        if (held := self._unacknowledged()) != self._held:
            self._held = held
            self._moved_at = time.monotonic()

    @property
    def _sending(self) -> bool:
        return bool(self._left or self._held)

    async def chunks(self, data: bytes | bytearray) -> AsyncIterator[bytes | bytearray]:
        for at in range(0, len(data), CHUNK):
            self._moved_at = time.monotonic()
            yield data[at : at + CHUNK]
        self._left = 0
        self._moved_at = time.monotonic()

    async def watch(
        self, request: asyncio.Future[aiohttp.ClientResponse], timeout_s: Callable[[], float], server: str
    ) -> aiohttp.ClientResponse:
        """The answer's head.

        Raises:
            SessionError: no bytes for longer than the time-out, or no answer for longer than the patience.
        """
        try:
            while True:
                # Looking closely costs little, as there is a request every two seconds
                await asyncio.wait({request}, timeout=min(0.25, timeout_s() / 4))
                still_s = time.monotonic() - self._moved_at
                if request.done():
                    if not self._sending:
                        self._patience.answered(still_s)
                    return request.result()
                self._look()
                limit_s = max(timeout_s(), LEAST_S)
                if self._sending:
                    if still_s > limit_s:
                        raise SessionError(f"stalled: {server} took no bytes for {limit_s * 1000:.0f} ms")
                    continue
                limit_s = self._patience.limit_s(limit_s)
                if still_s > limit_s:
                    self._patience.exhausted(limit_s)
                    raise SessionError(f"stalled: {server} gave no answer for {limit_s * 1000:.0f} ms")
        finally:
            if not request.done():
                request.cancel()
                await asyncio.gather(request, return_exceptions=True)


def _address(storage: ProgramStorage) -> tuple[str, str]:
    """Scheme and host, and the path before a key."""
    if storage.endpoint:
        parts = urlsplit(storage.endpoint)
        return (
            f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}",
            f"{parts.path.rstrip('/')}/{quote(storage.bucket, safe='-_.~')}",
        )
    host = f"s3.{storage.region}.amazonaws.com"
    # A certificate for *.s3… does not cover names with dots
    if "." in storage.bucket:
        return f"https://{host}", f"/{storage.bucket}"
    return f"https://{storage.bucket}.{host}", ""


def _host(server: str) -> str:
    return urlsplit(f"//{server}").hostname or server
