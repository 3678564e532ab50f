"""What an encoder pod offers and where: ports, identity, and the folders that its containers mount."""

from __future__ import annotations

CONTROL_PORT = 8443
METRICS_PORT = 9090
CONTROL_AUDIENCE = "onair-encoder"
SERVER_NAME = "onair-encoder"
"""The name in every pod's certificate: what tells pods apart is that each certificate is pinned."""
CERTIFICATE, SNAPSHOT_KEY = "tls.crt", "snapshot.key"
"""Keys of a pod's identity Secret. The second is a bearer token that `GET /v1/snapshot` alone accepts."""

SHARED_TMP = "/tmp"  # noqa: S108 - a volume of the container's own
X11_FOLDER = "/tmp/.X11-unix"  # noqa: S108 - where X clients look
PULSE_FOLDER = "/run/onair/pulse"
BROWSER_FOLDER = "/run/onair/browser"
"""The socket by which the encoder container steers the browser."""
PROGRAM_FOLDER = "/run/onair/program"
"""Memory volume of the encoder container alone: the programme, with its keys."""
IDENTITY_FOLDER = "/run/onair/identity"
CA_CERTIFICATES_FOLDER = "/etc/onair/authorities"
"""CA certificates that servers may be signed by, beside the system's; PEM, one or more a file."""
