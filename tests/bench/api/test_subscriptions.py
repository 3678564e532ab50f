"""Compares what an event costs among many subscriptions with what it costs alone, in one process and run."""

from __future__ import annotations

import time
from collections.abc import Callable

from onair_api.access.target import Target
from onair_api.event.subscription import Subscription
from onair_api.event.subscription_index import SubscriptionIndex

STREAMS, PER_STREAM = 40, 256
WILD = 512
EVENTS, BATCHES = 200, 20
TARGET = Target("c", "p")


def _event_us(index: SubscriptionIndex[int]) -> list[float]:
    """What an event costs, in microseconds of CPU time: the means of batches."""
    names = [f"studio:{number}:changed" for number in range(EVENTS)]
    means = []
    for _ in range(BATCHES):
        started = time.process_time()
        for name in names:
            index.find(name, TARGET)
        means.append((time.process_time() - started) * 1e6 / EVENTS)
    return means


def _index(patterns: list[str]) -> SubscriptionIndex[int]:
    index: SubscriptionIndex[int] = SubscriptionIndex()
    index.add(Subscription("studio:*", Target(), Target()), -1)
    for number, name in enumerate(patterns):
        index.add(Subscription(name, Target(), Target()), number // PER_STREAM)
    return index


def test_an_event_costs_the_same_among_ten_thousand_subscriptions(report: Callable[..., float]) -> None:
    alone = report("match of an event, alone", _event_us(_index([])), "us")
    names = [f"other:{number:04}:{'*' if number % 2 else 'x'}" for number in range(STREAMS * PER_STREAM)]
    among = report(f"match of an event among {len(names)} names and prefixes", _event_us(_index(names)), "us")
    wild = [f"*:{number:04}:*:{'a' * 64}" for number in range(WILD)]
    report(f"match of an event among {WILD} wildcards", _event_us(_index(wild)), "us", 1000.0)
    ratio = report("match of an event, among others ÷ alone", [among / alone], "", 2.0)
    assert ratio < 2 * 2.0
