"""Names that an encoder pod and its clients share: control interface, identity, environment, folders."""

from __future__ import annotations

import ssl
from enum import StrEnum

BROWSER_UID, ENCODER_UID = 1000, 1001
"""Users of the two containers; what a page may reach is bound to the former."""

CONTROL_PORT = 8443
METRICS_PORT = 9090
SOURCES_PORT = 8450
"""Only on the pod's loopback, for the page: sources with their script, the compositor, scenes."""

ENGINE_PORT = 8000
"""Only on the pod's loopback, where pages of the studio look for it."""

PROGRAM_PATH = "/v1/program"
STATUS_PATH = "/v1/status"
CONTACT_PATH = "/v1/contact"
SNAPSHOT_PATH = "/v1/snapshot"
SOURCES_PATH = "/sources"
"""On SOURCES_PORT: `/sources/<sourceId>` is a WebSocket of access units, `/sources/source.js` the script."""
COMPOSITOR_PATH = "/compositor/"
"""On SOURCES_PORT: the built-in page of scenes."""
COMPOSITOR_URL = f"http://127.0.0.1:{SOURCES_PORT}{COMPOSITOR_PATH}"
FACADE_PATH = "/facade"
"""On SOURCES_PORT: below it the facade, for a page of the studio; only its rooms, for a page of scenes."""
SCENE_PATH = "/scene"
"""On SOURCES_PORT: a WebSocket, see `contract/scene.py`."""
CONTROL_AUDIENCE = "onair-encoder"
"""`aud` of the operator's tokens."""
PROGRAM_SCOPE = "program"
"""`scope` of a token that may use all of the control interface."""
CLOCK_LEEWAY_S = 30
"""How far the clocks of an operator and a pod may be apart, beyond the life of a token."""
SERVER_NAME = "onair-encoder"
"""The name in every pod's certificate: pods are distinguished by pinning each certificate."""

CERTIFICATE = "tls.crt"
PRIVATE_KEY = "tls.key"
OPERATOR_KEY = "verify.pem"
"""The operator's public key, which the tokens of its requests are verified with."""
SNAPSHOT_KEY = "snapshot.key"
"""A bearer token that only `GET /v1/snapshot` accepts. The four are the keys of a pod's identity Secret."""

POD_NAME_VARIABLE = "ONAIR_POD_NAME"
HOST_ADDRESSES_VARIABLE = "ONAIR_HOST_ADDRESSES"
"""Addresses of the pod's node, with commas between."""
MAX_WIDTH_VARIABLE, MAX_HEIGHT_VARIABLE = "ONAIR_MAX_WIDTH", "ONAIR_MAX_HEIGHT"
"""Size of the X screen in pixels: the largest canvas that a warm browser can render."""
DEFAULT_MAX_WIDTH, DEFAULT_MAX_HEIGHT = 3840, 2160
SANDBOX_VARIABLE = "ONAIR_SANDBOX"
"""On the browser's container: a `SandboxMode`."""
CPU_REQUEST_VARIABLE = "ONAIR_CPU_REQUEST_MILLICORES"
"""On the browser's container: what it was promised."""
MEMORY_LIMIT_VARIABLE = "ONAIR_MEMORY_LIMIT_BYTES"
"""On the browser's container: its limit, which not every runtime shows to the container."""

TMP_FOLDER = "/tmp"  # noqa: S108 - a volume of the container's own
X11_FOLDER = "/tmp/.X11-unix"  # noqa: S108 - where X clients look
PULSE_FOLDER = "/run/onair/pulse"
BROWSER_FOLDER = "/run/onair/browser"
"""The socket by which the encoder container steers the browser."""
PROGRAM_FOLDER = "/run/onair/program"
"""Memory volume of only the encoder container: the programme, with its keys."""
COMPOSITOR_FOLDER = "/opt/onair/compositor"
"""Of the encoder image: the files of the compositor."""
IDENTITY_FOLDER = "/run/onair/identity"
CA_CERTIFICATES_FOLDER = "/etc/onair/authorities"
"""CA certificates that servers may be signed by, besides the system's; PEM, one or more a file."""


class SandboxMode(StrEnum):
    """What keeps a page that breaks its renderer from the container and the node."""

    SECCOMP = "seccomp"
    """Chromium's own sandbox, by a seccomp profile of the container that allows its namespaces."""
    RUNTIME_CLASS = "runtimeClass"
    """The runtime of the pod (gVisor, Kata), and Chromium's own where that allows it."""
    NONE = "none"
    """Where whoever installs it says so: a page that breaks its renderer has the container."""


def control_url(ip: str, path: str) -> str:
    """The address of a path of a pod's control interface, by the pod's IPv4 or IPv6 address."""
    return f"https://{f'[{ip}]' if ':' in ip else ip}:{CONTROL_PORT}{path}"


def pinned(certificate_pem: str) -> ssl.SSLContext:
    """Trusts the one certificate of a pod's identity and no other. Use with `SERVER_NAME`."""
    return ssl.create_default_context(cadata=certificate_pem)
