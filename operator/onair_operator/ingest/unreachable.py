"""A gateway that cannot be spoken to."""

from __future__ import annotations


class GatewayUnreachable(Exception):
    """The gateway did not respond, broke off, or said what no gateway says."""
