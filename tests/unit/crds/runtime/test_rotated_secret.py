"""A secret that is replaced: each former one counts for a while, and no other."""

from __future__ import annotations

from onair_crds.runtime.rotated_secret import FORMER_S, RotatedSecret


def token_of(secret: bytes) -> str:
    return f"token of {secret.decode()}"


def shown(secret: RotatedSecret, *values: str) -> list[bool]:
    return [secret.shown_by(f"Bearer token of {value}", token_of) for value in values]


def test_the_former_secret_counts_until_everybody_has_the_new_one() -> None:
    now = 1000.0
    secret = RotatedSecret(b"one", clock=lambda: now)
    assert shown(secret, "one", "two") == [True, False]
    assert secret.replace(b"two")
    assert not secret.replace(b"two"), "it is the same"
    assert shown(secret, "one", "two", "three") == [True, True, False]
    now += FORMER_S - 1
    assert shown(secret, "one") == [True]
    now += 1
    assert shown(secret, "one", "two") == [False, True]


def test_each_of_several_that_were_replaced_counts_for_as_long() -> None:
    now = 1000.0
    secret = RotatedSecret(b"one", clock=lambda: now)
    secret.replace(b"two")
    now += 60
    secret.replace(b"three")
    assert secret.present == b"three"
    assert shown(secret, "one", "two", "three") == [True, True, True]
    now += FORMER_S - 60
    assert shown(secret, "one", "two", "three") == [False, True, True]
    now += 60
    assert shown(secret, "one", "two", "three") == [False, False, True]
