"""The HTTP proxy on the way to an API server."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp


def proxy_of(url: str) -> str | None:
    """The proxy that this process's environment names for a URL, `NO_PROXY` considered.

    One that is reached by https is ignored, as aiohttp does.
    """
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or "") or proxy_bypass(parts.netloc):
        return None
    proxy = getproxies().get(parts.scheme)
    return None if proxy and urlsplit(proxy).scheme == "https" else proxy


def without_password(proxy: str) -> tuple[str, dict[str, str] | None]:
    """A proxy's URL that errors may quote, and the headers that let it in."""
    parts = urlsplit(proxy)
    if parts.username is None:
        return proxy, None
    basic = aiohttp.encode_basic_auth(unquote(parts.username), unquote(parts.password or ""))
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    return bare.geturl(), {"Proxy-Authorization": basic}
