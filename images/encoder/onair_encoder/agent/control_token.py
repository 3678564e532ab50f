"""Verifies the tokens of the operator's requests."""

from __future__ import annotations

import jwt

from onair_crds.contract.pod import CLOCK_LEEWAY_S, CONTROL_AUDIENCE


def scope_of(token: str | bytes, operator_key: str, pod: str) -> str | None:
    """The scope of a token for requests to this pod. The operator's clock may be a little ahead or behind.

    Raises:
        jwt.PyJWTError: it is no such token, or over.
    """
    claims = jwt.decode(
        token,
        operator_key,
        algorithms=["EdDSA"],
        audience=CONTROL_AUDIENCE,
        subject=pod,
        leeway=CLOCK_LEEWAY_S,
        options={"require": ["exp", "aud", "sub"]},
    )
    scope = claims.get("scope")
    return scope if isinstance(scope, str) else None
