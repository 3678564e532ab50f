"""A room's token ends with the access token it was made with, on all replicas; who joined with it leaves."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import aiohttp
import pytest
from livekit import rtc
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.late_watch import hold_up
from tests.support.rooms.hosted_rooms import (
    HOSTED,
    administer,
    claims_of,
    guest,
    join,
    settings_for,
    signal_url,
    validate,
)
from tests.support.rooms.member import member
from tests.support.signed_page_token import signed_page_token
from tests.support.signing_keys import AddedSigningKey
from tests.support.tokens import claims_of as claims_of_access
from tests.support.tokens import refreshed
from tests.support.waiting import wait_for

from onair_api.cache.watched_kinds import PROJECT, SIGNING_KEY
from onair_api.live.room.token_origin import origin_of
from onair_api.settings import MAX_TOKEN_DURATION_MS

pytestmark = [pytest.mark.media, pytest.mark.both_doors]

JWT = re.compile(rb"eyJ[\w-]+\.[\w-]+\.[\w-]+")
ENDED = "the access token that it was made with has ended"


async def renewed(url: str, token: str) -> str:
    """The token that the room server gives to who has joined; this one leaves at once."""
    query = {"access_token": token, "protocol": "15", "auto_subscribe": "0"}
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{url}/rtc", params=query) as socket:
        async for message in socket:
            if found := JWT.search(message.data):
                return found.group().decode()
    raise AssertionError("the room server renewed no token")


def is_refused(facade: FacadeThread, token: str) -> bool:
    response = validate(facade, token)
    return response.status_code == 401 and ENDED in response.text


async def test_a_revoked_token_admits_nobody_to_rooms_and_who_is_in_one_leaves(
    studios: tuple[FacadeThread, FacadeThread], sign_in: Callable[..., User]
) -> None:
    one, two = studios
    show = sign_in("anna", facade=one).project(**HOSTED)
    cohost, ben = guest(show, "ROLE_COHOST", "cohost"), guest(show, name="ben")
    invited = guest(type(show)(cohost, show.collection, show.id), name="eve")
    (_, kept), (host_token, _) = [(ben, join(show, ben)[0]), join(show)]
    tokens = [join(show, each)[0] for each in (cohost, invited)]
    tokens += [await renewed(signal_url(two), each) for each in tokens]
    assert [validate(two, each).status_code for each in tokens] == [200] * 4
    async with (
        member(signal_url(one), tokens[0]) as first,
        member(signal_url(two), tokens[1]) as second,
        member(signal_url(two), kept) as stays,
    ):
        assert cohost.call("DELETE", "/authentication/token").is_success
        await first.disconnected()
        await second.disconnected()
        wait_for(lambda: all(is_refused(each, token) for each in studios for token in tokens), "it is known")
        listed = administer(one, host_token, "ListParticipants").json()["participants"]
        assert [each["identity"] for each in listed] == ["ben"]
        assert not stays.gone.is_set()
    response = administer(two, tokens[0], "ListParticipants")
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")
    for token in tokens:
        with pytest.raises(rtc.ConnectError):
            async with member(signal_url(two), token):
                pass
    assert validate(two, kept).is_success


async def test_rooms_tokens_end_with_the_api_key_also_for_a_replica_that_was_started_later(
    studios: tuple[FacadeThread, FacadeThread],
    start_facade: Callable[..., FacadeThread],
    server: LiveKitServer,
    resources: StoredResources,
    sign_in: Callable[..., User],
) -> None:
    key = resources.add_api_key("breached in a room")
    show = sign_in(facade=studios[0], key=key).project(**HOSTED)
    token, _ = join(show)
    again = await renewed(signal_url(studios[1]), token)
    async with member(signal_url(studios[1]), token) as joined:
        resources.delete_api_key("breached in a room")
        await joined.disconnected()
    with start_facade(rooms=settings_for(server)) as later:
        for facade in (*studios, later):
            wait_for(partial(is_refused, facade, token), "it is known")
            assert is_refused(facade, again)


@pytest.mark.parametrize("end", [AddedSigningKey.delete, AddedSigningKey.edit, AddedSigningKey.recreate])
async def test_rooms_tokens_end_with_the_key_that_signed_the_access_token(
    end: Callable[[AddedSigningKey], None],
    studios: tuple[FacadeThread, FacadeThread],
    resources: StoredResources,
    sign_in: Callable[..., User],
) -> None:
    one, two = studios
    show = sign_in("anna", facade=one).project(**HOSTED)
    host_token, _ = join(show)
    with AddedSigningKey(resources, "signing-key-breached", one, two) as key:
        ben, eve, zoe = (guest(show, name=name) for name in ("ben", "eve", "zoe"))
        tokens = [join(show, ben)[0], join(show, zoe)[0]]
        tokens.append(await renewed(signal_url(two), tokens[0]))
        with AddedSigningKey(resources, "signing-key-later", one, two):
            kept, _ = join(show, refreshed(eve))
            async with (
                member(signal_url(one), tokens[0]) as first,
                member(signal_url(two), tokens[1]) as second,
                member(signal_url(two), kept) as third,
                member(signal_url(one), host_token) as host,
            ):
                end(key)
                await first.disconnected()
                await second.disconnected()
                for facade in studios:
                    for token in tokens:
                        wait_for(partial(is_refused, facade, token), "it is known")
                listed = administer(one, host_token, "ListParticipants").json()["participants"]
                assert {each["identity"] for each in listed} == {"anna", "eve"}
                assert not third.gone.is_set()
                assert not host.gone.is_set()
                assert all(validate(each, kept).is_success for each in studios)


async def test_a_replica_that_has_not_seen_a_signing_key_asks_for_it(
    studios: tuple[FacadeThread, FacadeThread],
    start_facade: Callable[..., FacadeThread],
    server: LiveKitServer,
    resources: StoredResources,
    sign_in: Callable[..., User],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = studios
    with AddedSigningKey(resources, "signing-key-gone", *studios) as gone:
        show = sign_in(facade=one).project(**HOSTED)
        old, _ = join(show)
        gone.delete()
        with start_facade(rooms=settings_for(server)) as later:
            hold_up(later, SIGNING_KEY, monkeypatch)
            assert is_refused(later, old)
            with AddedSigningKey(resources, "signing-key-new", *studios):
                new, _ = join(sign_in(facade=two).project(**HOSTED))
                wait_for(lambda: validate(later, new).is_success, "the project is known")
            gone.add()
            for facade in studios:
                assert validate(facade, old).is_success


async def test_a_renewed_token_says_no_less_and_no_other_participant_reads_what_it_goes_back_to(
    studios: tuple[FacadeThread, FacadeThread], sign_in: Callable[..., User]
) -> None:
    show = sign_in(facade=studios[0]).project(**HOSTED)
    token, identity = join(show)
    given, later = claims_of(token), claims_of(await renewed(signal_url(studios[0]), token))
    assert later["roomConfig"] == given["roomConfig"]
    async with member(signal_url(studios[0]), token):
        one = administer(studios[0], join(show, guest(show, "ROLE_COHOST"))[0], "ListParticipants")
        assert identity in one.text
        assert given["roomConfig"]["name"][3:15] not in one.text


async def test_room_tokens_of_a_page_end_with_its_run_whoever_has_them(
    studios: tuple[FacadeThread, FacadeThread], resources: StoredResources, sign_in: Callable[..., User]
) -> None:
    one, two = studios
    show = sign_in("anna", facade=one).project(**HOSTED)
    resources.set_broadcast(show.id, {"id": "run", "phase": "Running", "epoch": 1})
    host_token, _ = join(show)
    exchange = User(one, signed_page_token(resources, show))
    wait_for(lambda: exchange.call("PUT", "/authentication/token").is_success, "the page's key is known")
    page = refreshed(exchange)
    token, _ = join(show, page)
    passed_on = [token, await renewed(signal_url(two), token)]
    async with member(signal_url(two), passed_on[1]) as has_it, member(signal_url(one), host_token) as host:
        resources.set_broadcast(show.id, {"id": "run", "phase": "Stopping", "epoch": 1})
        wait_for(lambda: _phase(two, show.id) == "Stopping", "it is known")
        assert all(validate(each, token).is_success for each in studios for token in passed_on)
        resources.set_broadcast(show.id, {"id": "run", "phase": "Stopped", "epoch": 1})
        await has_it.disconnected()
        wait_for(
            lambda: all(is_refused(each, token) for each in studios for token in passed_on), "it is known"
        )
        assert page.call("GET", show.path).status_code == 401
        assert validate(one, host_token).is_success
        assert not host.gone.is_set()


def _phase(facade: FacadeThread, project: str) -> str | None:
    entry = facade.view.entry(PROJECT, project)
    return (entry.status.get("broadcast") or {}).get("phase") if entry else None


async def test_rooms_tokens_end_with_the_chain_of_the_access_token(
    studios: tuple[FacadeThread, FacadeThread],
    sign_in: Callable[..., User],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However often the room server has renewed them; and not with the access token itself."""
    one, two = studios
    show = sign_in("anna", facade=one).project(**HOSTED)
    token, _ = join(show)
    origin = origin_of(claims_of(token))
    assert origin
    assert origin.end == claims_of_access(show.user.token)["auth_time"] + MAX_TOKEN_DURATION_MS // 1000
    async with member(signal_url(two), token) as joined:
        monkeypatch.setattr(two.services.callers.tokens, "_now", lambda: float(origin.end or 0) - 1)
        assert validate(two, token).is_success
        assert not joined.gone.is_set()
        monkeypatch.setattr(two.services.callers.tokens, "_now", lambda: float(origin.end or 0))
        await joined.disconnected()
        assert is_refused(two, token)
    assert validate(one, token).is_success
