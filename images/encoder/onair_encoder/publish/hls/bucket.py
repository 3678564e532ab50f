"""One bucket of an S3-compatible object storage: put, get and delete objects."""

from __future__ import annotations

from collections.abc import Callable

from onair_crds.contract.inside_addresses import EVERYWHERE, InsideRules
from onair_crds.contract.program import ProgramStorage
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.bucket_requests import BucketRequests, Response
from onair_encoder.publish.hls.bytes_taken import BytesTaken
from onair_encoder.publish.hls.storage_error import (
    Changed,
    ConditionsUnsupported,
    NotReadable,
    error_code,
    storage_error,
)

ABSENT = "absent"
"""In place of an ETag: there is no such object."""
NOT_FOUND = 404
PRECONDITION_FAILED = 412
NOT_IMPLEMENTED = 501
_ERROR_BYTES = 64 * 1024
MOST_BYTES = 64 * 2**20
"""Of an object that is read; the playlist of a week takes half of it."""


class Bucket:
    def __init__(
        self,
        storage: ProgramStorage,
        timeout_s: Callable[[], float],
        inside: InsideRules = EVERYWHERE,
        taken: BytesTaken | None = None,
    ) -> None:
        """
        Args:
            timeout_s: how long a request may make no progress, looked up for each.
            inside: where the storage must not be.
            taken: told how far each object has come.
        """
        self._storage = storage
        self._requests = BucketRequests(storage, timeout_s, inside=inside, taken=taken)

    async def put(
        self, key: str, data: bytes | bytearray, content_type: str, cache_control: str, if_match: str = ""
    ) -> str:
        """Stores an object; returns its ETag, empty if the storage gives none.

        Args:
            if_match: the ETag of the object that it may replace, `ABSENT` for none; empty for any or none.

        Raises:
            Changed: there is another object.
            ConditionsUnsupported: the bucket takes no conditions.
            SessionError: it is not known to be stored.
        """
        headers = {"content-type": content_type, "cache-control": cache_control}
        if self._storage.acl:
            headers["x-amz-acl"] = self._storage.acl
        if if_match:
            headers |= {"if-none-match": "*"} if if_match == ABSENT else {"if-match": if_match}
        async with self._requests.request("PUT", key, headers, data) as response:
            await self._check(response, if_match)
            return response.etag

    async def get(self, key: str, most_bytes: int | None = None) -> tuple[bytes, str] | None:
        """An object's content and ETag; None if there is none.

        Args:
            most_bytes: what is beyond is not read; None for all, up to a bound.

        Raises:
            NotReadable: the credentials do not allow it.
            SessionError: it is not known.
        """
        async with self._requests.request("GET", key, {}) as response:
            if response.status == 200:
                data = await response.read(most_bytes or MOST_BYTES + 1)
                if len(data) > MOST_BYTES:
                    raise SessionError(f"{self._requests.server}: {key} is too large", permanent=True)
                return data, response.etag
            code = await _code(response)
            if response.status == 404 and code in ("NoSuchKey", ""):
                return None
            error = storage_error(response.status, code, self._storage, self._requests.server)
            raise NotReadable(str(error), permanent=True) if code == "AccessDenied" else error

    async def delete(self, key: str) -> None:
        """Removes an object, if it exists.

        Raises:
            SessionError: it may still exist.
        """
        async with self._requests.request("DELETE", key, {}) as response:
            if response.status != 404:
                await self._check(response)

    async def _check(self, response: Response, if_match: str = "") -> None:
        if response.status >= 300:
            code = await _code(response)
            if if_match and _is_changed(response.status, code):
                raise Changed(f"{self._requests.server}: the object has changed", permanent=True)
            if if_match and _is_unsupported(response.status, code):
                raise ConditionsUnsupported(f"{self._requests.server} takes no conditions", permanent=True)
            raise storage_error(response.status, code, self._storage, self._requests.server)

    async def close_when_idle(self) -> None:
        """Closes after the requests that are under way."""
        await self._requests.close_when_idle()

    async def close(self) -> None:
        await self._requests.close()


def _is_changed(status: int, code: str) -> bool:
    """Whether a condition did not hold: an object that is gone is 404 to some storages, 412 to others."""
    return status == PRECONDITION_FAILED or (status == NOT_FOUND and code != "NoSuchBucket")


def _is_unsupported(status: int, code: str) -> bool:
    return status == NOT_IMPLEMENTED or code in ("InvalidArgument", "InvalidRequest")


async def _code(response: Response) -> str:
    """The storage's own code for what is wrong."""
    return error_code((await response.read(_ERROR_BYTES)).decode(errors="replace"))
