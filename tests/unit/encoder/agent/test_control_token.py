"""Tokens of an operator whose clock is not ours."""

from __future__ import annotations

import datetime as dt

import jwt
import pytest

from onair_crds.contract.pod import CONTROL_AUDIENCE, PROGRAM_SCOPE
from onair_encoder.agent.control_token import scope_of
from onair_operator.encoder.pod_identity import TOKEN_LIFE, OperatorKey

KEY = OperatorKey.generate()
POD = "show-run-1"


def token(clock_s: float) -> str:
    """Of an operator whose clock is so many seconds ahead of ours."""
    return KEY.token(POD, dt.datetime.now(dt.UTC) + dt.timedelta(seconds=clock_s))


@pytest.mark.parametrize("clock_s", [-60, -5, -1, 0, 1, 5, 60])
def test_clocks_may_be_apart(clock_s: float) -> None:
    assert scope_of(token(clock_s), KEY.public_pem(), POD) == PROGRAM_SCOPE


@pytest.mark.parametrize("ahead_s", [1, 5])
def test_an_operator_that_says_when_it_issued_a_token_may_be_ahead(ahead_s: float) -> None:
    now = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=ahead_s)
    claims = {"aud": CONTROL_AUDIENCE, "sub": POD, "scope": "program", "iat": now, "exp": now + TOKEN_LIFE}
    assert scope_of(jwt.encode(claims, KEY.private, algorithm="EdDSA"), KEY.public_pem(), POD) == "program"


@pytest.mark.parametrize("clock_s", [-3600, 3600])
def test_a_token_of_another_hour_is_refused(clock_s: float) -> None:
    with pytest.raises(jwt.PyJWTError):
        scope_of(token(clock_s), KEY.public_pem(), POD)


def test_a_token_for_another_pod_or_by_another_key_is_refused() -> None:
    with pytest.raises(jwt.PyJWTError):
        scope_of(token(0), KEY.public_pem(), "show-run-2")
    with pytest.raises(jwt.PyJWTError):
        scope_of(token(0), OperatorKey.generate().public_pem(), POD)
