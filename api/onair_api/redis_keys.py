"""Names of all keys and channels in Redis, which several installations may share.

Each has a prefix of its own: a database of its own would not do, as channels are the same in all.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RedisKeys:
    """The names of one installation. Its replicas of other versions use the same."""

    prefix: str = "onair"

    @property
    def absent(self) -> str:
        """A key that nothing is ever under."""
        return self._of("events", "absent")

    @property
    def numbers(self) -> str:
        """Counts custom events."""
        return self._of("events", "numbers")

    def channel(self, user_id: str) -> str:
        """The channel of a user's custom events."""
        return self._of("events", user_id)

    def user_of(self, channel: str) -> str:
        """The user whose channel this is."""
        return channel.removeprefix(self.channel(""))

    def recent(self, user_id: str) -> str:
        """The stream that keeps the last of them."""
        return self._of("events", "recent", user_id)

    def sizes(self, service_id: str) -> str:
        """The set of a service's streams by the memory that they take."""
        return self._of("events", "sizes", service_id)

    def ends(self, service_id: str) -> str:
        """The set of its streams by when they expire."""
        return self._of("events", "ends", service_id)

    def total(self, service_id: str) -> str:
        """The memory that they take together."""
        return self._of("events", "total", service_id)

    def of_a_service(self, service_id: str) -> tuple[str, str, str]:
        """What is known of a service's streams, in the order of the script that publishes."""
        return self.sizes(service_id), self.ends(service_id), self.total(service_id)

    def batch(self, nonce: str) -> str:
        """What the event of a write says beyond the difference of two versions."""
        return self._of("batch", nonce)

    def session(self, user_id: str, session_id: str) -> str:
        """A closed session."""
        return self._of("session", user_id, session_id)

    def room(self, key: str) -> str:
        """A value that all replicas know of rooms."""
        return self._of("room", key)

    def counts(self, scope: str) -> str:
        """The first part of the names of counters of requests."""
        return f"{self.prefix}/{scope}"

    def _of(self, *parts: str) -> str:
        return ":".join((self.prefix, *parts))


DEFAULT_KEYS = RedisKeys()
