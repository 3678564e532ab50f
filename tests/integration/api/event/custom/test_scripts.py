"""What Redis keeps of custom events: bounded for a user and for a service, and told what is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis
from tests.support.redis_server import RedisServer
from tests.support.waiting import wait_for

from onair_api.event.custom import scripts
from onair_api.redis_keys import DEFAULT_KEYS

STREAM_BYTES, SERVICE_BYTES = 20_000, 150_000
NOTED_BYTES = 256
"""Of a stream, beside itself."""
MESSAGE = "m" * 1000


class KeptEvents:
    """Custom events as replicas leave them in Redis, of a service."""

    def __init__(self, redis: Redis, service: str) -> None:
        self._redis, self._service = redis, service
        self._publish = redis.register_script(scripts.PUBLISH)
        self._recent = redis.register_script(scripts.RECENT)
        self._keep = redis.register_script(scripts.KEEP)
        self.keep_s = 60

    def publish(self, user: str, times: int = 1, *, message: str = MESSAGE) -> int:
        """Returns the number of the last."""
        number = 0
        for _ in range(times):
            number = self._publish(
                keys=[
                    DEFAULT_KEYS.numbers,
                    self._stream(user),
                    *DEFAULT_KEYS.of_a_service(self._service),
                ],
                args=["epoch", user, message, 100, self.keep_s, STREAM_BYTES, SERVICE_BYTES],
            )
        return number

    def keep(self, user: str, size: int, keep_s: int = 60) -> None:
        """Keeps a value that counts as events of this service, under the name of a user."""
        keys = [self._stream(user), *DEFAULT_KEYS.of_a_service(self._service)]
        self._keep(keys=keys, args=["x" * size, keep_s, SERVICE_BYTES])

    def value(self, user: str) -> bytes | None:
        found: Any = self._redis.xrange(self._stream(user))
        return found[0][1][b"v"] if found else None

    def numbers(self, user: str) -> list[int]:
        """Of the messages that are kept, oldest first."""
        _, _, _, texts, _, _ = self._look(user)
        return [int(text.split(b" ")[0]) for text in texts]

    def lost_up_to(self, user: str) -> int:
        _, _, lost, _, _, _ = self._look(user)
        return lost

    def size(self, *users: str) -> int:
        return sum(self._redis.memory_usage(self._stream(each)) or 0 for each in users)

    def total(self) -> int:
        return int(self._redis.get(DEFAULT_KEYS.total(self._service)) or 0)

    def _look(self, user: str) -> tuple[bytes, int, int, list[bytes], list[int], bytes]:
        return self.page(user, b"", 1000)

    def page(
        self, user: str, after: bytes, size: int, seconds: int = 60
    ) -> tuple[bytes, int, int, list[bytes], list[int], bytes]:
        keys = [DEFAULT_KEYS.numbers, self._stream(user)]
        return self._recent(keys=keys, args=["epoch", seconds, after, size])  # type: ignore[no-any-return]

    def _stream(self, user: str) -> str:
        return DEFAULT_KEYS.recent(f"{self._service}-{user}")


@pytest.fixture
def redis_client(redis_server: RedisServer) -> Iterator[Redis]:
    # Apart from what replicas of other tests have there
    with Redis.from_url(redis_server.url.replace("/0", "/1")) as client:
        yield client
        client.flushdb()


@pytest.fixture
def kept(redis_client: Redis) -> KeptEvents:
    return KeptEvents(redis_client, "studio")


def test_of_a_users_events_the_older_half_goes_where_they_are_too_many_bytes(kept: KeptEvents) -> None:
    last = kept.publish("anna", 60)
    assert kept.size("anna") <= STREAM_BYTES
    numbers = kept.numbers("anna")
    assert len(numbers) > 5
    assert numbers == list(range(last - len(numbers) + 1, last + 1))
    assert kept.lost_up_to("anna") == numbers[0] - 1


def test_of_a_service_with_many_users_the_one_with_the_most_loses_its_older_half(
    kept: KeptEvents, redis_client: Redis
) -> None:
    quiet = [kept.publish("quiet") for _ in range(3)]
    loud = [f"loud-{each}" for each in range(12)]
    for _ in range(15):
        for user in loud:
            kept.publish(user)
            assert kept.size("quiet", *loud) <= SERVICE_BYTES
    assert kept.numbers("quiet") == quiet
    assert kept.lost_up_to("quiet") == 0
    for user in loud:
        assert kept.lost_up_to(user) == (numbers[0] - 1 if (numbers := kept.numbers(user)) else quiet[0])
    other = KeptEvents(redis_client, "other")
    numbers = [other.publish("anna") for _ in range(3)]
    assert other.numbers("anna") == numbers, "another service has bytes of its own"


def test_who_has_lost_all_is_told_and_hears_what_follows(kept: KeptEvents) -> None:
    users = [f"user-{each}" for each in range(60)]
    for user in users:
        last = kept.publish(user)
    empty = [each for each in users if not kept.numbers(each)]
    assert empty
    assert all(kept.lost_up_to(each) == last for each in empty)
    number = kept.publish(empty[0], 3)
    assert kept.numbers(empty[0])[-1:] == [number]
    assert kept.lost_up_to(empty[0]) >= last


def test_as_many_users_as_there_may_ever_be_take_no_more(kept: KeptEvents) -> None:
    users = [f"user-{each}" for each in range(600)]
    for user in users:
        kept.publish(user, message="short")
    assert kept.size(*users) <= SERVICE_BYTES
    assert kept.total() <= SERVICE_BYTES


def test_what_has_expired_counts_no_more(kept: KeptEvents, redis_client: Redis) -> None:
    """Redis may be far behind with what has expired, where it keeps much that has not."""
    with redis_client.pipeline() as many:
        for each in range(5000):
            many.set(f"other-{each}", "", ex=3600)
        many.execute()
    users = [f"user-{each}" for each in range(20)]
    kept.keep_s = 1
    for user in users:
        kept.publish(user)
    ends_s = redis_client.time()[0] + 2
    kept.keep_s = 60
    kept.publish("quiet")
    wait_for(lambda: redis_client.time()[0] > ends_s, "the others have expired")
    for _ in range(2):
        kept.publish("anna", message="short")
    assert kept.total() == kept.size("quiet", "anna") + 2 * NOTED_BYTES
    assert len(kept.numbers("quiet")) == 1


def test_values_count_with_the_events_of_their_service(kept: KeptEvents, redis_client: Redis) -> None:
    quiet = [kept.publish("quiet") for _ in range(3)]
    values = [f"value-{each}" for each in range(20)]
    for value in values:
        kept.keep(value, 20_000)
        assert kept.total() <= SERVICE_BYTES
    sizes = [len(kept.value(each) or b"") for each in values]
    assert 3 <= sizes.count(20_000) <= 7, "those of a service take no more together than its events may"
    assert sizes.count(0) == len(values) - sizes.count(20_000)
    assert kept.numbers("quiet") == quiet, "who has little keeps it"
    other = KeptEvents(redis_client, "other")
    other.keep("value", 20_000)
    assert other.value("value") == b"x" * 20_000, "another service has bytes of its own"
    kept.publish("quiet")
    assert kept.numbers("quiet")[-1] > quiet[-1], "events are published beside them"


def test_a_value_replaces_the_one_of_its_name_and_counts_until_it_expires(
    kept: KeptEvents, redis_client: Redis
) -> None:
    for size in (20_000, 10_000):
        kept.keep("value", size, keep_s=1)
    assert kept.value("value") == b"x" * 10_000
    kept.publish("anna")
    assert kept.total() == kept.size("anna", "value") + 2 * NOTED_BYTES
    ends_s = redis_client.time()[0] + 2
    wait_for(lambda: redis_client.time()[0] > ends_s, "the value has expired")
    kept.publish("anna")
    assert kept.total() == kept.size("anna") + NOTED_BYTES


def test_what_counts_is_noted_for_as_long_as_the_longest(kept: KeptEvents, redis_client: Redis) -> None:
    kept.keep_s = 1
    kept.keep("value", 10_000)
    kept.publish("anna")
    left_s = [redis_client.ttl(each) for each in DEFAULT_KEYS.of_a_service("studio")]
    assert min(left_s) > 50, left_s


def test_pages_follow_each_other_and_tell_what_went_between_them(kept: KeptEvents) -> None:
    kept.publish("anna", 10, message="short")
    numbers = kept.numbers("anna")
    read, after = [], b""
    for _ in range(3):
        _, _, lost, texts, _, after = kept.page("anna", after, 4)
        read.append([int(text.split(b" ")[0]) for text in texts])
        assert lost == 0
    assert read == [numbers[:4], numbers[4:8], numbers[8:]]
    assert after == b"", "there is no more"
    *_, after = kept.page("anna", b"", 4)
    kept.publish("anna", 100, message="short")
    _, _, lost, texts, _, _ = kept.page("anna", after, 4)
    assert int(texts[0].split(b" ")[0]) == lost + 1 > numbers[4]


def test_what_is_older_than_is_asked_for_counts_as_gone(kept: KeptEvents, redis_client: Redis) -> None:
    old = kept.publish("anna", 2)
    ends_s = redis_client.time()[0] + 2
    wait_for(lambda: redis_client.time()[0] > ends_s, "they are older than a second")
    new = kept.publish("anna")
    _, _, lost, texts, _, _ = kept.page("anna", b"", 10, seconds=1)
    assert (lost, [int(text.split(b" ")[0]) for text in texts]) == (old, [new])
