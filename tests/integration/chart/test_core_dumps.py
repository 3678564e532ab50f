"""Servers that others have written leave no core dump: Redis by its limit, those in Go by their runtime.

The real processes of a cluster are looked at by `e2e/alone/test_canaries.py`.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import yaml
from tests.support.control_plane import free_port
from tests.support.core_dumps import DUMPING, GO_CRASHES, CoreDumps
from tests.support.delivery.server_program import server_program
from tests.support.helm import named, render
from tests.support.waiting import wait_for

_, HARD = resource.getrlimit(resource.RLIMIT_CORE)
ALLOWED = HARD == resource.RLIM_INFINITY or HARD > 1 << 20
"""Whether a process of this machine may leave a core dump at all."""
GOES_ON = {signal.SIGXCPU, signal.SIGXFSZ}
"""Of these a program in Go does not end."""
NONE = {
    **dict.fromkeys(("rtmp", "rtsp", "hls", "webrtc", "srt", "moq"), False),
    "paths": {"all_others": None},
}


class StartedProgram:
    """A program, and whether it left a core dump: `subprocess` does not say."""

    def __init__(
        self,
        command: Sequence[str | Path],
        folder: Path,
        limits: tuple[int, int],
        variables: Mapping[str, str],
    ) -> None:
        self._ended = False
        self.pid = os.fork()
        if self.pid == 0:
            with suppress(BaseException):
                output = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                os.dup2(output, 1)
                os.dup2(output, 2)
                os.chdir(folder)
                resource.setrlimit(resource.RLIMIT_CORE, limits)
                os.execvpe(command[0], [str(each) for each in command], {**os.environ, **variables})  # noqa: S606
            os._exit(127)

    def runs(self, name: str) -> bool:
        """Whether it has become the program of this name, and has not ended."""
        self._ended = self._ended or os.waitpid(self.pid, os.WNOHANG) != (0, 0)
        assert not self._ended, "it has ended"
        return Path(f"/proc/{self.pid}/comm").read_text().strip() == name[:15]

    def dumps(self, number: int) -> bool:
        """Whether it leaves a core dump as a signal ends it."""
        os.kill(self.pid, number)
        _, status = os.waitpid(self.pid, 0)
        self._ended = True
        return os.WIFSIGNALED(status) and os.WCOREDUMP(status)

    def stop(self) -> None:
        if not self._ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


@contextmanager
def started(
    command: Sequence[str | Path],
    folder: Path,
    limits: tuple[int, int] = (HARD, HARD),
    variables: Mapping[str, str] | None = None,
) -> Iterator[StartedProgram]:
    process = StartedProgram(command, folder, limits, variables or {})
    try:
        yield process
    finally:
        process.stop()
        for each in folder.glob("core*"):
            each.unlink()


def redis_command(folder: Path) -> list[str]:
    """The chart's, with a settings file and a port of the test's own."""
    settings = folder / "redis.conf"
    settings.write_text("requirepass of-the-test\n")
    pod = named(render(), "Deployment", "onair-redis")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    given = {
        "/run/onair/redis/redis.conf": str(settings),
        "/tmp": str(folder),
        "*": "127.0.0.1",
        "-::*": "-::1",
    }
    return [*(given.get(each, each) for each in container["command"]), "--port", str(free_port())]


def dies_with_a_dump(command: Sequence[str], folder: Path, limits: tuple[int, int]) -> tuple[bool, CoreDumps]:
    """Whether Redis leaves a core dump once it serves, and what the kernel said of it before."""
    with started(command, folder, limits) as redis:
        wait_for(
            lambda: redis.runs("redis-server") and "Ready to accept" in (folder / "log").read_text(),
            "Redis serves",
            60,
        )
        seen = CoreDumps.of_process(redis.pid)
        return redis.dumps(signal.SIGSEGV), seen


@pytest.mark.parametrize("limits", [(HARD, HARD), (0, HARD), (0, 0)], ids=["any", "any by choice", "none"])
def test_redis_leaves_none_whatever_its_limit_was(tmp_path: Path, limits: tuple[int, int]) -> None:
    dumped, seen = dies_with_a_dump(redis_command(tmp_path), tmp_path, limits)
    assert not dumped
    assert seen.limit == ("0" if limits[1] == 0 else "1"), "of 0 a dump is given to a program that takes them"


def test_redis_would_leave_one_without_the_limit(tmp_path: Path) -> None:
    command = redis_command(tmp_path)
    bare = command[command.index("redis-server") :]
    dumped, seen = dies_with_a_dump(bare, tmp_path, (HARD, HARD))
    assert dumped is ALLOWED
    assert not seen.by_runtime


def go_command(name: str, folder: Path) -> list[str | Path]:
    """A server with settings with which it serves until it is ended."""
    settings = folder / "settings.yaml"
    if name == "mediamtx":
        settings.write_text(yaml.safe_dump({"api": True, "apiAddress": f"127.0.0.1:{free_port()}", **NONE}))
        return [server_program(name), settings]
    rtc = {"tcp_port": free_port(), "udp_port": free_port(), "node_ip": "127.0.0.1", "use_external_ip": False}
    keys = {"test": "a secret of the test's own server"}
    rooms = {"port": free_port(), "bind_addresses": ["127.0.0.1"], "rtc": rtc, "keys": keys}
    settings.write_text(yaml.safe_dump(rooms))
    return [server_program(name), "--config", settings]


@pytest.mark.parametrize("number", sorted(DUMPING - GOES_ON), ids=lambda number: signal.Signals(number).name)
@pytest.mark.parametrize("name", ["mediamtx", "livekit-server"])
def test_servers_in_go_leave_none(tmp_path: Path, name: str, number: int) -> None:
    with started(go_command(name, tmp_path), tmp_path) as server:
        wait_for(lambda: server.runs(name) and CoreDumps.of_process(server.pid).by_runtime, "it catches all")
        assert not server.dumps(number)


@pytest.mark.parametrize("name", ["mediamtx", "livekit-server"])
def test_servers_in_go_would_leave_one_if_told_to_crash(tmp_path: Path, name: str) -> None:
    variables = dict([GO_CRASHES.split("=")])
    with started(go_command(name, tmp_path), tmp_path, variables=variables) as server:

        def catches() -> bool:
            seen = CoreDumps.of_process(server.pid)
            return server.runs(name) and bool(seen.caught >> (signal.SIGSEGV - 1) & 1)

        wait_for(catches, "it catches what it may die of")
        assert not CoreDumps.of_process(server.pid).by_runtime
        assert server.dumps(signal.SIGSEGV) is ALLOWED
