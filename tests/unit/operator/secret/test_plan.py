"""Secrets that nothing uses are deleted after a grace."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from tests.support.worlds import NOW, SETTINGS, secret

from onair_operator.cluster.actions import DeleteSecret, Requeue
from onair_operator.cluster.queue import Key
from onair_operator.secret.observe import ObservedSecret
from onair_operator.secret.plan import GRACE, make_plan


def test_credentials_of_what_never_came_are_deleted_after_their_grace() -> None:
    old = ObservedSecret(secret("key"), in_use=False)
    assert make_plan(old, NOW, SETTINGS) == [DeleteSecret("key", "uid-key")]
    young = replace(secret("key"), created=NOW - GRACE + dt.timedelta(minutes=1))
    (again,) = make_plan(ObservedSecret(young, in_use=False), NOW, SETTINGS)
    assert isinstance(again, Requeue)
    assert again.key == Key("Secret", "key")
    assert 60 < again.after_s < 61
    due = NOW + dt.timedelta(seconds=again.after_s)
    assert make_plan(ObservedSecret(young, in_use=False), due, SETTINGS) == [DeleteSecret("key", "uid-key")]


def test_credentials_in_use_and_secrets_of_other_types_are_kept() -> None:
    assert make_plan(ObservedSecret(secret("key"), in_use=True), NOW, SETTINGS) == []
    assert make_plan(ObservedSecret(secret("key", type="Opaque"), in_use=False), NOW, SETTINGS) == []
