"""Request rates: refused beyond the limit, over all replicas, or by each for itself without Redis."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest
from tests.support.event_client import WebSocket
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.redis_server import RedisServer
from tests.support.tokens import TOKEN, assert_error
from tests.support.waiting import wait_for

from onair_api.auth import rate_limits
from onair_api.event.stream.request_handler import REFUSED_S
from onair_api.settings import RateLimitSettings, RedisSettings

WINDOW_S = 3
PER_TOKEN, PER_SERVICE = 24, 240
PAUSE_S = 0.01


@pytest.fixture(scope="module")
def replicas(
    start_facade: StartFacade, redis_url: str, facade: FacadeThread
) -> Iterator[tuple[FacadeThread, FacadeThread]]:
    limits = RateLimitSettings(window_s=WINDOW_S, per_token=PER_TOKEN, per_service=PER_SERVICE)
    with ExitStack() as stack, quick_recovery():
        made = [
            stack.enter_context(start_facade(rate_limits=limits, redis=RedisSettings(url=redis_url)))
            for _ in range(2)
        ]
        wait_for(lambda: all(is_limiting(each) for each in made), "Redis was asked")
        yield made[0], made[1]


@contextmanager
def quick_recovery() -> Iterator[None]:
    """The pause after Redis failed, shortened: both of the replicas live in this process."""
    before, rate_limits.OPEN_S = rate_limits.OPEN_S, 0.3
    yield
    rate_limits.OPEN_S = before


def is_limiting(facade: FacadeThread) -> bool:
    return not facade._server.config.app.state.services.callers.rate_limits._open


def hammer(user: User, most: int = 2000) -> httpx.Response:
    """The first refusal."""
    for _ in range(most):
        response = user.call("GET", "/collection")
        if response.status_code != 200:
            return response
    pytest.fail(f"{most} requests were let through")


def own_service(
    facade: FacadeThread, resources: StoredResources, sign_in: Callable[..., User], name: str
) -> Callable[[], User]:
    """Makes users of a service of its own, whose count no other test has touched."""
    key = resources.add_api_key(f"{name}-{time.monotonic_ns()}")
    return lambda: User(facade, sign_in(key=key).token)


def test_a_token_that_calls_too_often_is_told_when_to_come_back(
    replicas: tuple[FacadeThread, FacadeThread], resources: StoredResources, sign_in: Callable[..., User]
) -> None:
    make = own_service(replicas[0], resources, sign_in, "often")
    user, other = make(), make()
    response = hammer(user)
    assert_error(response, 429, 8)
    wait_s = int(response.headers["Retry-After"])
    assert 1 <= wait_s <= WINDOW_S
    assert other.ok("GET", "/collection") == {"collections": []}, "another token of the service is let in"
    wait_for(
        lambda: User(replicas[1], user.token).call("GET", "/collection").status_code == 429,
        "the other replica refuses it too",
    )
    assert_error(user.call("PUT", "/authentication/token", {}), 429, 8)
    wait_for(lambda: user.call("GET", "/collection").status_code == 200, "the window ends", WINDOW_S + 3)


def test_a_token_is_refused_to_the_end_of_the_window(
    replicas: tuple[FacadeThread, FacadeThread], resources: StoredResources, sign_in: Callable[..., User]
) -> None:
    user = own_service(replicas[0], resources, sign_in, "steady")()
    hammer(user)
    end, accepted = time.monotonic() + WINDOW_S, 0
    while time.monotonic() < end:
        accepted += user.call("GET", "/collection").is_success
        # As fast as can be, what one batch holds goes by how late a busy machine reports it
        time.sleep(PAUSE_S)
    assert accepted <= 2 * PER_TOKEN, "of the next window, which may have begun, and what one batch holds"


def test_streams_that_ask_too_often_are_read_no_faster_than_an_owner_is_refused(
    replicas: tuple[FacadeThread, FacadeThread], resources: StoredResources, sign_in: Callable[..., User]
) -> None:
    key = resources.add_api_key(f"stream-{time.monotonic_ns()}")
    user, other = (User(replicas[0], sign_in("host", key=key).token) for _ in range(2))
    asked = [f"{number:03}" for number in range(100)]
    with ExitStack() as stack:
        first, second, quiet = (
            stack.enter_context(WebSocket(replicas[0], each.token)) for each in (user, user, other)
        )
        hammer(user)
        began = time.monotonic()
        for each in asked:
            for stream in (first, second):
                stream.send(correlationId=each, ping="a")
        assert "pong" in quiet.ask(ping="a"), "a stream within its rate waits for nothing"
        replies = [[stream.next()["result"] for _ in asked] for stream in (first, second)]
        took_s = time.monotonic() - began
    assert [[each["correlationId"] for each in ones] for ones in replies] == [asked, asked], "all, in order"
    refused = [each["error"]["message"] for ones in replies for each in ones if "error" in each]
    assert refused, "those of the present window"
    assert all("too many requests" in each for each in refused)
    assert took_s > len(refused) * REFUSED_S * 0.7


def test_a_service_has_a_limit_for_all_its_tokens(
    replicas: tuple[FacadeThread, FacadeThread], resources: StoredResources, sign_in: Callable[..., User]
) -> None:
    key = resources.add_api_key(f"busy-{time.monotonic_ns()}")
    users = [User(replicas[i % 2], sign_in(key=key).token) for i in range(24)]
    end = time.monotonic() + 20

    def refusal() -> httpx.Response:
        while time.monotonic() < end:
            for user in users:
                response = user.call("GET", "/collection")
                if response.status_code == 429 and "from this service" in response.text:
                    return response
        pytest.fail("the service was never refused")

    assert_error(refusal(), 429, 8)
    headers = {"X-API-Key": key}
    responses = [f.http.post(TOKEN, headers=headers, json={"serviceUserId": "a"}) for f in replicas]
    assert 429 in {response.status_code for response in responses}


def test_probes_and_metrics_are_never_refused(replicas: tuple[FacadeThread, FacadeThread]) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        assert {replicas[0].http.get(path).status_code for _ in range(PER_TOKEN + 20)} == {200}


def test_each_replica_counts_for_itself_while_redis_is_away(
    replicas: tuple[FacadeThread, FacadeThread],
    resources: StoredResources,
    sign_in: Callable[..., User],
    redis_server: RedisServer,
) -> None:
    user = own_service(replicas[0], resources, sign_in, "away")()
    hammer(user)
    redis_server.stop()
    try:
        # It is, where there is something to report
        wait_for(lambda: user.call("GET", "/collection") and not is_limiting(replicas[0]), "it is missed")
        wait_for(lambda: user.call("GET", "/collection").status_code == 200, "they are let in")
        slowest, accepted, end = 0.0, 0, time.monotonic() + WINDOW_S
        while time.monotonic() < end:
            started = time.perf_counter()
            accepted += user.call("GET", "/collection").is_success
            slowest = max(slowest, time.perf_counter() - started)
        assert slowest < rate_limits.TIMEOUT_S, "no request waits for Redis"
        assert PER_TOKEN / 2 < accepted <= 2 * PER_TOKEN, "of a window of this replica, or of two"
        assert "onair_api_rate_limits_open 1.0" in replicas[0].http.get("/metrics").text
    finally:
        redis_server.start()
    wait_for(lambda: is_limiting(replicas[0]), "Redis is found again")
    assert_error(hammer(user), 429, 8)


def test_a_redis_that_is_silent_holds_nobody_up(
    start_facade: StartFacade, sign_in: Callable[..., User]
) -> None:
    """It accepts connections and never answers, as behind a firewall that drops packets."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        limits = RateLimitSettings(window_s=WINDOW_S, per_token=5, per_service=5)
        with start_facade(rate_limits=limits, redis=RedisSettings(url=url)) as facade:
            user = User(facade, sign_in().token)
            started = time.monotonic()
            answers = [user.call("GET", "/collection").status_code for _ in range(50)]
            assert time.monotonic() - started < 5
            assert answers[0] == 200
            assert 429 in answers


def test_an_installation_without_redis_has_no_limits(facade: FacadeThread, anna: User) -> None:
    assert not facade._server.config.app.state.services.callers.rate_limits._items
