"""Where guests may be led to, with a token in the url. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from onair_api.settings import GuestLinkSettings
from onair_crds.contract.inside_addresses import DEFAULT_PORTS, InsideRules, host_of


@dataclass(frozen=True)
class GuestLinks:
    settings: GuestLinkSettings
    inside: InsideRules

    def refusal(self, url: str) -> str | None:
        """Why nobody is led to a url; None if guests may be."""
        if not is_http_url(url):
            return "must be an https URL"
        parts = urlsplit(url)
        scheme, host = parts.scheme.lower(), host_of(parts.hostname or "")
        try:
            port = parts.port
        except ValueError:
            return "must have a port up to 65535"
        if host in self.settings.insecure_hosts:
            return None
        if scheme != "https":
            return "must be an https URL: it carries a token (value `api.guestLinks.insecureHosts`)"
        if self.settings.origins:
            named = f"{scheme}://{host}" + (f":{port}" if port not in (None, DEFAULT_PORTS[scheme]) else "")
            if named in self.settings.origins:
                return None
            return "must be of an origin that this installation allows (value `api.guestLinks.origins`)"
        return self.inside.refusal(url)


def is_http_url(url: str) -> bool:
    """Whether a browser can be sent there; nothing that could end a header line."""
    if "\\" in url or any(c.isspace() or not c.isprintable() for c in url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
