"""What an operator does not come to that starts without a right."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from structlog.testing import capture_logs
from tests.support.rights.installation import Installation
from tests.support.rights.need import Scenario
from tests.support.rights.objects import secrets_of, wait
from tests.support.waiting import wait_for

from onair_crds.contract.labels import RENDERER_KEY_TYPE
from onair_crds.contract.renderer_token import PUBLIC_PEM, RENDERER_KEY_SECRET


def starts(prepare: Callable[[Installation], None] = lambda _: None) -> Scenario:
    """It asks again and again, and does nothing else."""

    def scenario(installation: Installation) -> Iterator[None]:
        installation.stop_operator()
        prepare(installation)
        yield
        installation.start_operator()
        project = installation.project()
        wait_for(lambda: asked_again(installation), "it asks again")
        assert not installation.status("projects", project)
        yield
        wait("it has a status", lambda: installation.status("projects", project))

    return scenario


def asked_again(installation: Installation) -> bool:
    """Whether it came to ask a second time, as two of its parts may ask: who leads, and who compares."""
    return len([each for each in installation.refusals() if not each.by_kopf]) > 2


def leads(prepare: Callable[[Installation], None] = lambda _: None) -> Scenario:
    """So it does with its Lease, and its log says once what it lacks."""

    def scenario(installation: Installation) -> Iterator[None]:
        started = starts(prepare)(installation)
        next(started)
        yield
        with capture_logs() as logs:
            next(started)
            told = [each["error"] for each in logs if each["event"] == "lease.forbidden"]
        assert len(told) == 1, told
        assert "leases" in told[0]
        yield
        assert list(started) == []

    return scenario


def lists(installation: Installation) -> Iterator[None]:
    """So it does with a list, and is not ready."""
    scenario = starts()(installation)
    next(scenario)
    yield
    next(scenario)
    assert not installation.operator.ready
    yield
    assert list(scenario) == []
    wait("it is ready", lambda: installation.operator.ready)


def without(path: str) -> Callable[[Installation], None]:
    """An object that it is to make."""
    return lambda installation: installation.delete(path)


def another_public_key(namespace: str) -> Callable[[Installation], None]:
    """The public half of a key that it has not got."""

    def prepare(installation: Installation) -> None:
        path = secrets_of(namespace)
        installation.delete(f"{path}/{RENDERER_KEY_SECRET}")
        installation.create(
            path,
            metadata={"name": RENDERER_KEY_SECRET},
            type=RENDERER_KEY_TYPE,
            stringData={PUBLIC_PEM: "another"},
        )

    return prepare
