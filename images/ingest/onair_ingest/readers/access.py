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
    shown = request.headers.get("Authorization", "")
    if not secret.shown_by(shown, lambda each: reader_token(each, stream)):
        raise web.HTTPUnauthorized(text="the token of this stream is required")
    return stream
