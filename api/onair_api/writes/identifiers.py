"""Ids of the interface: names of resources that cannot be guessed."""

from __future__ import annotations

import secrets
import string

LENGTH = 20
LETTERS = string.ascii_lowercase
CHARACTERS = LETTERS + string.digits


def new_id() -> str:
    """20 characters of [a-z0-9], a letter first, so that it is a name everywhere (103 random bits)."""
    return secrets.choice(LETTERS) + "".join(secrets.choice(CHARACTERS) for _ in range(LENGTH - 1))
