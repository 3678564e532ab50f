"""Who may read a stream: whoever shows its token."""

from __future__ import annotations

from aiohttp import web

from onair_crds.contract.ingest_gateway import reader_token
from onair_crds.runtime.rotated_secret import RotatedSecret


def authorized_stream(request: web.Request, secret: RotatedSecret) -> str:
    """The stream that the request may read.

    Raises:
        web.HTTPUnauthorized: it shows no token, or that of another stream.
    """
    stream = request.match_info["stream"]
    if not secret.shown_by(_shown(request), lambda each: reader_token(each, stream)):
        raise web.HTTPUnauthorized(text="the token of this stream is required")
    return stream


async def until_refused(request: web.Request, secret: RotatedSecret) -> None:
    """Returns once the request might not read its stream any more."""
    stream = request.match_info["stream"]
    await secret.until_refused(_shown(request), lambda each: reader_token(each, stream))


def _shown(request: web.Request) -> str:
    return request.headers.get("Authorization", "")
