"""What a page may reach beyond the public internet: the operator writes it, pods load their rules by it.

Uses only the standard library, as a pod starts with it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

VARIABLE = "ONAIR_PAGE_NETWORK"

LOWEST_ROOM_PORT = 10_000
LIVEKIT_PORTS = (7881, 7882)
"""Those that livekit-server's own documentation names, below the lowest."""
KUBERNETES_PORTS = range(10_248, 10_261)
"""The kubelet's, and those of the control plane's programs."""
OTHER_PORTS = (27_017, 51_820, 51_821)
"""MongoDB; WireGuard, by which networks of clusters connect nodes."""


def may_be_of_rooms(port: int) -> bool:
    """Whether rooms may have this port, which pages reach at every address: not one at which others listen.

    Below the lowest are API servers, etcd, tunnels of cluster networks, databases and our own programs.
    """
    if port < LOWEST_ROOM_PORT:
        return port in LIVEKIT_PORTS
    return port not in KUBERNETES_PORTS and port not in OTHER_PORTS


@dataclass(frozen=True)
class PageNetwork:
    """What a page may reach: `InsideRules`, and what only concerns pages."""

    refused: bool = True
    """False: every address but those of the pod itself is allowed."""
    allowed_hosts: tuple[str, ...] = ()
    allowed_ranges: tuple[str, ...] = ()
    refused_ranges: tuple[str, ...] = ()
    name_servers: tuple[str, ...] = ()
    """Ranges in which there are name servers, besides those that the pod is given."""
    room_udp_port: int = 0
    room_tcp_port: int = 0
    """Ports of audio and video of rooms, at whatever address of the inside their server is; 0: none."""

    def text(self) -> str:
        """The JSON text of what differs from the defaults."""
        default = asdict(PageNetwork())
        return json.dumps({name: value for name, value in asdict(self).items() if value != default[name]})

    @classmethod
    def of_text(cls, text: str) -> PageNetwork:
        """Decodes what `text` encoded.

        Raises:
            ValueError: it is no such text.
        """
        try:
            values: dict[str, Any] = json.loads(text)
            for name, value in values.items():
                values[name] = tuple(value) if isinstance(value, list) else value
            return cls(**values)
        except (TypeError, AttributeError) as error:
            raise ValueError(f"{VARIABLE}: must be an object of the known names") from error
