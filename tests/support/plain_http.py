"""What clients of servers without TLS verify: nothing."""

from __future__ import annotations

import ssl

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""As `verify` of httpx, which else loads all CA certificates for each client: 10 ms of a core."""
