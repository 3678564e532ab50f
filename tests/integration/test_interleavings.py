"""Any schedule of commands and faults: no lost stop, no orphan, no two encoders on one stream for long."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)
from tests.support.contended_installation import ContendedInstallation, ContendedShow, contended_installation
from tests.support.control_plane import ControlPlane
from tests.support.redis_server import RedisServer
from tests.support.waiting import wait_for

pytestmark = pytest.mark.media

SCHEDULES = int(os.environ.get("ONAIR_SCHEDULES", "0"))
"""Random schedules; 0 runs a few that are the same each time."""
STEPS = 5
HANDOVER_S = 6.0
SETTLE_S = 90.0
REPLICA = st.sampled_from([0, 1])
COMMANDS = ["none", "none", "start", "stop", "start by kubectl", "stop by kubectl"]
FAULTS = [
    "none",
    "heal",
    "kill operator",
    "suspend operator",
    "silence operator upstream",
    "silence operator downstream",
    "silence facade upstream",
    "silence facade downstream",
    "stall facade",
    "freeze node",
    "hide encoder from operator",
    "delete pod",
]


@pytest.fixture(scope="module")
def installation(
    control_plane: ControlPlane, crds: None, redis_server: RedisServer
) -> Iterator[ContendedInstallation]:
    with contended_installation(control_plane, redis_server) as made:
        yield made


class Schedule(RuleBasedStateMachine):
    """Commands of a user and faults of the world, one after the other, at the pace of their responses."""

    installation: ContendedInstallation

    @initialize(on_air=st.sampled_from([True, True, False]))
    def create(self, *, on_air: bool) -> None:
        self.show: ContendedShow = self.installation.show()
        self.possible = {"Stopped"}
        """States that the show may be in when all has settled."""
        self.unknown: set[str] = set()
        """Wanted by calls without a response: they may take effect late."""
        if on_air:
            self.possible = {"Running"}
            assert self._call("start", 0)
            wait_for(self.show.on_air, "the show is on air", SETTLE_S)

    @rule(
        fault=st.sampled_from(FAULTS),
        which=REPLICA,
        seconds=st.sampled_from([0.0, 1.0, 5.0, 15.0]),
        command=st.sampled_from(COMMANDS),
        replica=REPLICA,
    )
    def step(self, fault: str, which: int, seconds: float, command: str, replica: int) -> None:
        """A fault, some time with it, and perhaps a command."""
        self._suffer(fault, which)
        time.sleep(seconds)
        if command == "none":
            print(f"  {fault} ({which}), {seconds:g} s → {self.show.story()}")
            return
        state = "Running" if command.startswith("start") else "Stopped"
        acknowledged = self._kubectl(state) if "kubectl" in command else self._call(command, replica)
        if not acknowledged:
            self.unknown.add(state)
        self.possible = {state} | self.unknown | (set() if acknowledged else self.possible)
        print(
            f"  {fault} ({which}), {seconds:g} s, {command} ({replica})",
            "" if acknowledged else "without a response",
            f"→ {self.show.story()}",
        )

    def _suffer(self, fault: str, which: int) -> None:
        operator, facade = self.installation.operators[which], self.installation.facades[which]
        pods = self.show.pods
        match fault.split():
            case ["heal"]:
                self.installation.heal()
            case ["kill", "operator"]:
                operator.kill()
            case ["suspend", "operator"]:
                operator.suspend()
            case ["silence", "operator", direction]:
                operator.silence(direction)
            case ["silence", "facade", direction]:
                facade.silence(direction)
            case ["stall", "facade"]:
                facade.stall()
            case ["freeze", "node"] if pods:
                self.installation.kubelets.freeze(pods[-1])
            case ["hide", *_] if pods:
                self.installation.kubelets.hide_from_operator(pods[-1])
            case ["delete", "pod"] if pods:
                resources = self.installation.resources
                resources.admin.delete(f"/api/v1/namespaces/{resources.shows}/pods/{pods[-1].name}")

    def _call(self, command: str, replica: int) -> bool:
        path = f"{self.show.path}/broadcast/{command}"
        return self.installation.call(replica, "POST", path, {}) is not None

    def _kubectl(self, state: str) -> bool:
        broadcast = {"state": state}
        if state == "Running" and self.show.state == "Stopped":
            broadcast["id"] = secrets.token_hex(4)
        self.installation.resources.patch("projects", self.show.id, {"spec": {"broadcast": broadcast}})
        return True

    def teardown(self) -> None:
        print(f"healed → {' or '.join(self.possible)}")
        self.installation.heal()
        assert self.installation.kubelets.failure is None
        settled = {"Running": self.show.on_air, "Stopped": self.show.off_air}
        try:
            wait_for(
                lambda: (state := self.show.state) in self.possible and settled[state](),
                f"one of {self.possible} is reached",
                SETTLE_S,
            )
            contest_s = self.installation.publishers.longest_contest_s(self.show.key)
            assert contest_s <= HANDOVER_S, f"a replaced encoder published for {contest_s:.1f} s"
        finally:
            self._end()

    def _end(self) -> None:
        self.installation.call(0, "POST", f"{self.show.path}/broadcast/stop", {})
        wait_for(lambda: not self.show.pods, "the show has ended", SETTLE_S)


SCRIPTS: dict[str, list[tuple[str, int, float, str]]] = {
    "a frozen node comes back after its encoder was replaced": [
        ("freeze node", 0, 20.0, "none"),
        ("heal", 0, 8.0, "none"),
    ],
    "an encoder that the operator cannot reach is replaced": [
        ("hide encoder from operator", 0, 1.0, "none"),
        ("delete pod", 0, 8.0, "none"),
    ],
    "commands come while one operator after the other is suspended": [
        ("suspend operator", 0, 1.0, "stop"),
        ("heal", 0, 1.0, "start"),
        ("suspend operator", 1, 1.0, "stop"),
    ],
    "a leader is killed while an encoder is being replaced": [
        ("delete pod", 0, 0.0, "none"),
        ("kill operator", 0, 0.0, "none"),
        ("silence operator downstream", 1, 3.0, "none"),
    ],
}
"""Faults, which operator or facade, seconds with it, and a command by way of the second facade."""


@pytest.mark.parametrize("steps", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_what_is_wanted_is_reached(
    installation: ContendedInstallation, steps: list[tuple[str, int, float, str]]
) -> None:
    Schedule.installation = installation
    schedule = Schedule()
    schedule.create(on_air=True)
    for fault, which, seconds, command in steps:
        schedule.step(fault=fault, which=which, seconds=seconds, command=command, replica=1)
    schedule.teardown()


def test_no_schedule_loses_a_stop_or_leaves_two_encoders(installation: ContendedInstallation) -> None:
    Schedule.installation = installation
    run_state_machine_as_test(
        Schedule,
        settings=settings(
            max_examples=SCHEDULES or 4,
            verbosity=Verbosity.verbose,
            stateful_step_count=STEPS,
            derandomize=not SCHEDULES,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
