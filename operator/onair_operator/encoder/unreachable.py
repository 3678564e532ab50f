"""The error of requests to encoders."""

from __future__ import annotations


class EncoderUnreachable(Exception):
    """The encoder did not respond, or broke off."""
