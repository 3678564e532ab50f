"""Who may join and run hosted rooms, with a real room server behind two replicas of the facade."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from livekit import rtc
from tests.support.delivery.livekit_server import KEY, SECRET, LiveKitServer
from tests.support.facade import FacadeThread, Show, StartFacade, StoredResources, User
from tests.support.late_watch import hold_up
from tests.support.redis_server import RedisServer
from tests.support.rooms.hosted_rooms import (
    HOSTED,
    administer,
    claims_of,
    guest,
    join,
    room_of,
    settings_for,
    signal_url,
    validate,
)
from tests.support.rooms.member import member
from tests.support.tokens import refreshed
from tests.support.waiting import wait_for

from onair_api.cache.watched_kinds import PROJECT
from onair_api.live.room.request import MAX_METADATA_BYTES
from onair_crds.contract.rooms import SIGNAL_PATH
from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media


@pytest.fixture
def show(studio: FacadeThread, sign_in: Callable[..., User]) -> Show:
    return sign_in(facade=studio).project(**HOSTED)


def forged(**changes: Any) -> str:
    secret = changes.pop("secret", SECRET)
    claims = {"iss": KEY, "sub": "eve", "exp": int(time.time()) + 600, **changes}
    return jwt.encode(claims, secret, algorithm="HS256")


@pytest.mark.both_doors
@pytest.mark.parametrize(
    ("role", "runs", "publishes", "hidden"),
    [
        ("ROLE_HOST", True, True, False),
        ("ROLE_COHOST", True, True, False),
        ("ROLE_CONTRIBUTOR", False, True, False),
        ("ROLE_GUEST", False, True, False),
        ("ROLE_VIEWER", False, False, False),
        ("ROLE_RENDERER", False, False, True),
    ],
)
def test_a_token_grants_what_the_role_may(
    show: Show, role: str, runs: bool, publishes: bool, hidden: bool
) -> None:
    given = {"displayName": "Eve", "participantRole": "ROLE_HOST", "color": "red"}
    token, identity = join(show, guest(show, role, "ben"), displayName="Ben", participantMetadata=given)
    assert identity == ("renderer-0" if role == "ROLE_RENDERER" else "ben")
    claims = claims_of(token)
    assert (claims["sub"], claims["name"]) == (identity, "Ben")
    assert json.loads(claims["metadata"]) == {"displayName": "Ben", "participantRole": role, "color": "red"}
    assert 200 < claims["exp"] - time.time() <= 301
    video = claims["video"]
    names = ("canPublish", "canPublishData", "canUpdateOwnMetadata")
    assert [video[name] for name in names] == [publishes] * 3
    assert (video["roomAdmin"], video["hidden"], video["canSubscribe"]) == (runs, hidden, True)


@pytest.mark.both_doors
@pytest.mark.parametrize("character", ["a", "é", "語", '"', "🎥"])
async def test_who_has_as_much_metadata_as_there_may_be_joins(
    show: Show, studio: FacadeThread, character: str
) -> None:
    own = len(json.dumps(character, ensure_ascii=False).encode()) - 2
    metadata = {"of": character * ((MAX_METADATA_BYTES - 9) // own)}
    token, _ = join(show, participantMetadata=metadata)
    assert validate(studio, token).is_success
    async with member(signal_url(studio), token) as joined:
        assert json.loads(joined.room.local_participant.metadata)["of"] == metadata["of"]


@pytest.mark.both_doors
def test_a_reload_keeps_its_identity_and_another_token_gets_a_number_on_any_replica(
    show: Show, studios: tuple[FacadeThread, FacadeThread], sign_in: Callable[..., User]
) -> None:
    name = join(show)[1]
    assert join(show, User(studios[1], show.user.token))[1] == name
    again = sign_in(name, facade=studios[1])
    assert join(show, again)[1] == f"{name}#2"
    assert join(show, User(studios[0], again.token))[1] == f"{name}#2"


@pytest.mark.both_doors
async def test_a_guest_without_an_id_keeps_the_identity_of_the_token(
    show: Show, studios: tuple[FacadeThread, FacadeThread]
) -> None:
    one, two = studios
    ben, eve = guest(show), guest(show)
    token, identity = join(show, ben)
    async with member(signal_url(one), token):
        assert join(show, ben)[1] == identity
        assert join(show, User(two, ben.token))[1] == identity
        assert join(show, eve)[1] not in (identity, f"{identity}#2")


@pytest.mark.both_doors
async def test_who_is_removed_comes_back_only_when_the_room_opens_anew(
    show: Show, studios: tuple[FacadeThread, FacadeThread]
) -> None:
    one, two = studios
    eve = guest(show, name="eve")
    host_token, _ = join(show)
    eve_token, _ = join(show, eve)
    async with member(signal_url(two), eve_token) as joined:
        assert administer(one, host_token, "RemoveParticipant", identity="eve").status_code == 200
        await joined.disconnected()
    wait_for(lambda: validate(two, eve_token).status_code == 403, "the other replica refuses them")
    with pytest.raises(rtc.ConnectError):
        async with member(signal_url(one), eve_token):
            pass
    for caller in (eve, guest(show, name="eve")):
        response = caller.call("POST", f"{show.path}/webrtc/token", {"displayName": "Eve"})
        assert (response.status_code, response.json()["code"]) == (403, 7)
    assert join(show, guest(show, name="ben"))[1] == "ben"
    for verb in ("stop", "start"):
        assert show.user.ok("PUT", f"{show.path}/webrtc/{verb}") == {}
    eve_token, _ = join(show, eve)
    async with member(signal_url(one), eve_token):
        pass


def is_let_in(show: Show, user: User) -> bool:
    response = user.call("POST", f"{show.path}/webrtc/token", {"displayName": "Eve"})
    assert response.is_success or (response.status_code, response.json()["code"]) == (403, 7)
    return response.is_success


def of_guest(show: Show, user: User) -> Show:
    """The show as a guest of it reaches it."""
    return Show(user, show.collection, show.id)


@pytest.mark.both_doors
@pytest.mark.parametrize("role", ["ROLE_COHOST", "ROLE_CONTRIBUTOR"])
def test_who_was_removed_comes_back_neither_by_a_refresh_nor_as_their_own_guest(
    show: Show, studio: FacadeThread, role: str
) -> None:
    host_token, _ = join(show)
    eve = refreshed(guest(show, role, "eve"))
    invited_before = guest(of_guest(show, eve), name="x1")
    join(show, eve)
    assert administer(studio, host_token, "RemoveParticipant", identity="eve").status_code in (200, 404)
    again = refreshed(eve)
    invited = guest(of_guest(show, again), name="x2")
    by_invited = guest(of_guest(show, guest(of_guest(show, eve), "ROLE_CONTRIBUTOR", "x3")), name="x4")
    refused = (eve, again, invited_before, invited, by_invited)
    assert [is_let_in(show, each) for each in refused] == [False] * len(refused)
    assert all(is_let_in(show, each) for each in (show.user, guest(show, role, "ben")))
    for verb in ("stop", "start"):
        assert show.user.ok("PUT", f"{show.path}/webrtc/{verb}") == {}
    assert is_let_in(show, again)


@pytest.mark.both_doors
async def test_who_was_removed_joins_with_no_token_that_they_had_in_hand(
    show: Show, studios: tuple[FacadeThread, FacadeThread]
) -> None:
    """Who shares it and is in the room, by the same guest code, stays and may come back to it."""
    one, two = studios
    host_token, _ = join(show)
    eve = refreshed(guest(show, "ROLE_COHOST", "eve"))
    token, spare, other = (join(show, each) for each in (eve, refreshed(eve), refreshed(eve)))
    assert [identity for _, identity in (token, spare, other)] == ["eve", "eve#2", "eve#3"]
    async with member(signal_url(one), token[0]) as joined, member(signal_url(two), other[0]) as stays:
        assert administer(one, host_token, "RemoveParticipant", identity="eve").is_success
        await joined.disconnected()
        wait_for(lambda: all(validate(each, token[0]).status_code == 403 for each in studios), "it is known")
        assert [validate(each, spare[0]).status_code for each in studios] == [403, 403]
        assert administer(one, spare[0], "ListParticipants").status_code == 403
        with pytest.raises(rtc.ConnectError):
            async with member(signal_url(two), spare[0]):
                pass
        assert [validate(each, other[0]).status_code for each in studios] == [200, 200]
        assert not stays.gone.is_set()
    wait_for(lambda: validate(one, other[0]).status_code == 403, "who has left does not come back")


@pytest.mark.both_doors
def test_a_host_who_removes_a_join_of_their_own_is_not_locked_out_nor_are_their_guests(
    show: Show, studio: FacadeThread, sign_in: Callable[..., User]
) -> None:
    """One join too many: of the same token after its renewal, or of another login."""
    name = join(show)[1]
    renewed, other_login = refreshed(show.user), sign_in(join(show)[1], facade=studio)
    ben = guest(Show(other_login, show.collection, show.id), name="ben")
    joined = [join(show, each)[1] for each in (renewed, other_login)]
    assert joined == [f"{name}#2", f"{name}#3"]
    host_token, _ = join(show)
    for each in joined:
        assert administer(studio, host_token, "RemoveParticipant", identity=each).status_code in (200, 404)
    assert [is_let_in(show, each) for each in (renewed, other_login)] == [False, False]
    again = (show.user, refreshed(renewed), sign_in(name, facade=studio), ben)
    assert [is_let_in(show, each) for each in again] == [True] * 4
    assert not is_let_in(show, refreshed(other_login)), "who was removed by another login stays out"


def test_rooms_are_run_by_their_own_admins_alone(
    show: Show, studio: FacadeThread, sign_in: Callable[..., User]
) -> None:
    host_token, _ = join(show)
    assert validate(studio, host_token).text == "success"
    guest_token, _ = join(show, guest(show))
    other_token, _ = join(sign_in(facade=studio).project(**HOSTED))
    assert administer(studio, host_token, "ListParticipants").status_code == 200
    refused = [
        (guest_token, "ListParticipants", {}, 403),
        (other_token, "RemoveParticipant", {"room": room_of(host_token), "identity": "x"}, 403),
        (host_token, "DeleteRoom", {}, 403),
        (host_token, "UpdateRoomMetadata", {"metadata": "{}"}, 403),
        (host_token, "RemoveParticipant", {"identity": ""}, 400),
    ]
    for token, method, body, status in refused:
        response = administer(studio, token, method, **body)
        assert response.status_code == status, (method, response.text)
        assert set(response.json()) == {"code", "msg"}


def test_a_token_in_the_query_runs_no_room(show: Show, studio: FacadeThread) -> None:
    token, _ = join(show)
    url = f"{SIGNAL_PATH}/twirp/livekit.RoomService/ListParticipants"
    body = {"room": room_of(token)}
    response = studio.http.post(url, json=body, params={"access_token": token})
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")
    assert studio.http.post(url, json=body, headers={"Authorization": f"bearer {token}"}).is_success


def test_forged_and_stale_tokens_reach_nothing(show: Show, studio: FacadeThread) -> None:
    token, _ = join(show)
    video = claims_of(token)["video"]
    tokens = {
        forged(video=video, secret="x" * 32): 401,
        forged(video=video, iss="other"): 401,
        forged(video=video, exp=int(time.time()) - 60): 401,
        forged(video="all"): 401,
        forged(): 401,
        jwt.encode({**claims_of(token)}, "", algorithm="none"): 401,
        show.user.token: 401,
        "": 401,
        "a" * 20_000: 401,
        forged(video={**video, "room": "of nobody"}): 404,
    }
    for each, status in tokens.items():
        assert validate(studio, each).status_code == status
        response = studio.http.post(
            "/webrtc/v2/twirp/livekit.RoomService/ListParticipants",
            json={"room": video["room"]},
            headers={"Authorization": f"Bearer {each}".strip()},
        )
        assert response.status_code == status
    show.user.ok("PUT", f"{show.path}/webrtc/stop")
    assert validate(studio, token).status_code == 404


@pytest.mark.both_doors
def test_a_broadcast_opens_and_closes_the_room_where_it_is_asked_to(
    show: Show, resources: StoredResources
) -> None:
    def state() -> str:
        return str((resources.get("projects", show.id)["spec"].get("room") or {}).get("state"))

    show.start()
    assert state() in ("None", "Closed")
    show.user.ok("POST", f"{show.path}/broadcast/start?webrtcStart=true")
    assert state() == "Open"
    show.stop()
    assert state() == "Open"
    show.user.ok("POST", f"{show.path}/broadcast/stop?webrtcStop=true")
    assert state() == "Closed"


@pytest.mark.both_doors
def test_a_room_that_nobody_opened_opens_at_the_first_join(
    studio: FacadeThread, show: Show, resources: StoredResources
) -> None:
    def state() -> str:
        return str((resources.get("projects", show.id)["spec"].get("room") or {}).get("state"))

    assert state() in ("None", "Closed")
    token, _ = join(show)
    assert state() == "Open"
    assert validate(studio, token).is_success


@pytest.mark.both_doors
def test_a_replica_that_has_not_heard_that_a_room_is_open_admits_to_it(
    studio: FacadeThread,
    server: LiveKitServer,
    start_facade: StartFacade,
    show: Show,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with start_facade(rooms=settings_for(server)) as late:
        wait_for(lambda: late.services.cluster.view.get(PROJECT, show.id), "the project is known")
        hold_up(late, PROJECT, monkeypatch)
        token, _ = join(show)
        assert validate(late, token).is_success
        show.user.ok("PUT", f"{show.path}/webrtc/stop")
        with start_facade(rooms=settings_for(server)) as later:
            wait_for(lambda: later.services.cluster.view.get(PROJECT, show.id), "the project is known")
            hold_up(later, PROJECT, monkeypatch)
            assert validate(later, token).status_code == 404


@pytest.mark.both_doors
def test_projects_without_a_hosted_room_refuse(studio: FacadeThread, sign_in: Callable[..., User]) -> None:
    user = sign_in(facade=studio)
    bodies: list[JsonObject] = [{}, {"webrtc": {"hosted": {"enabled": False}}}]
    for body in bodies:
        show = user.project(**body)
        show.user.ok("POST", f"{show.path}/broadcast/start?webrtcStart=true")
        for method, verb in (("PUT", "start"), ("PUT", "stop"), ("POST", "token")):
            response = user.call(method, f"{show.path}/webrtc/{verb}", {"displayName": "Anna"})
            assert (response.status_code, response.json()["code"]) == (400, 9)


@pytest.mark.both_doors
def test_a_hung_room_server_is_told_and_hangs_nobody(
    show: Show, studio: FacadeThread, server: LiveKitServer
) -> None:
    token, _ = join(show)
    server.freeze(True)
    try:
        started = time.monotonic()
        response = show.user.call("POST", f"{show.path}/webrtc/token", {"displayName": "Anna"})
        assert (response.status_code, response.json()["code"]) == (503, 14)
        assert validate(studio, token).status_code == 503
        assert time.monotonic() - started < 10
    finally:
        server.freeze(False)
    wait_for(lambda: validate(studio, token).is_success, "the room server responds again")


@pytest.mark.both_doors
def test_while_redis_is_silent_rooms_are_joined_and_a_reload_keeps_its_identity_on_its_replica(
    show: Show, studio: FacadeThread, sign_in: Callable[..., User], redis_server: RedisServer
) -> None:
    token, name = join(show)
    redis_server.freeze()
    try:
        started = time.monotonic()
        assert join(show)[1] == name
        again = sign_in(name, facade=studio)
        assert join(show, again)[1] == join(show, again)[1]
        assert validate(studio, token).is_success
        assert time.monotonic() - started < 10
    finally:
        redis_server.thaw()


@pytest.mark.both_doors
def test_no_token_of_a_room_is_logged(show: Show, studio: FacadeThread, recorded_logs: Any) -> None:
    token, _ = join(show)
    validate(studio, token)
    validate(studio, token + "x")
    signature = token.rsplit(".", 1)[1]
    assert signature not in recorded_logs.getvalue()
