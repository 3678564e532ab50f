"""Signing keys that come and go."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from tests.support.event_client import WebSocket
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.signing_keys import AddedSigningKey
from tests.support.tokens import refreshed
from tests.support.waiting import wait_for


def is_refused(user: User) -> bool:
    return user.call("GET", "/collection").status_code == 401


@pytest.mark.parametrize("end", [AddedSigningKey.delete, AddedSigningKey.edit, AddedSigningKey.recreate])
def test_with_a_signing_key_end_its_tokens_and_streams_on_all_replicas(
    end: Callable[[AddedSigningKey], None],
    facade: FacadeThread,
    second_facade: FacadeThread,
    resources: StoredResources,
    sign_in: Callable[..., User],
) -> None:
    kept = sign_in()
    replicas = (facade, second_facade)
    with AddedSigningKey(resources, "signing-key-breached", *replicas) as key:
        host, renewed_later = sign_in(), sign_in()
        with (
            AddedSigningKey(resources, "signing-key-later", *replicas),
            WebSocket(second_facade, host.token) as stream,
            WebSocket(second_facade, (renewed := refreshed(renewed_later)).token) as another,
        ):
            end(key)
            for replica in replicas:
                for token in (host.token, renewed_later.token):
                    wait_for(partial(is_refused, User(replica, token)), "it ended")
            while "error" not in (message := stream.next()):
                assert "result" in message
            assert stream.closed() == 1008
            another.assert_silent()
            for user in (kept, renewed):
                user.collection()
