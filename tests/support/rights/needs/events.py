"""What people do not hear of an operator that may not write Events."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.rights.installation import Installation
from tests.support.rights.objects import key_reference, pod_of, wait


def nothing_is_told(installation: Installation) -> Iterator[None]:
    installation.operate()
    yield
    show = installation.show()
    wait("its pod is there", lambda: installation.exists(pod_of(show)))
    installation.wait_refused()
    assert installation.events(show) == []
    yield
    installation.resources.patch("projects", show, {"spec": {"broadcast": {"state": "Stopped"}}})
    wait("its end is told", lambda: installation.told(show, "Stopped"))


def repetitions_are_not_counted(installation: Installation) -> Iterator[None]:
    installation.operate()
    there = installation.credentials()
    name = installation.destination(installation.project(), "absent")

    def refer(secret: str, expected: str) -> None:
        change = {"spec": {"address": {"rtmpPush": key_reference(secret)}}}
        installation.resources.patch("destinations", name, change)
        wait(expected, lambda: installation.ready("destinations", name)[0] == expected)

    def counts() -> list[int]:
        return [each["count"] for each in installation.events(name) if each["reason"] == "SecretNotFound"]

    wait("it is told", lambda: counts() == [1])
    yield
    refer(there, "NotRunning")
    refer("absent", "SecretNotFound")
    installation.wait_refused()
    assert counts() == [1]
    yield
    refer(there, "NotRunning")
    refer("absent", "SecretNotFound")
    wait("it is counted", lambda: counts() == [3])
