"""A real Redis for tests."""

import shutil
import signal
import socket
from pathlib import Path

from tests.support.control_plane import HOST, ControlPlaneError, Program, free_port, wait_until


class RedisServer:
    """A Redis without persistence that a test may stop and start again on the same port."""

    def __init__(self, folder: Path) -> None:
        binary = shutil.which("redis-server")
        if binary is None:
            raise ControlPlaneError("redis-server was not found: install the package redis-server")
        self._binary = binary
        self._folder = folder
        self._port = free_port()
        self._program: Program | None = None
        self.url = f"redis://{HOST}:{self._port}/0"

    def start(self) -> None:
        """Returns when it accepts connections."""
        options = ["--bind", HOST, "--port", str(self._port), "--dir", str(self._folder), "--save", ""]
        program = Program([self._binary, *options, "--appendonly", "no"], self._folder / "redis.log")
        self._program = program
        wait_until(lambda: self._accepts(program), "redis-server ready")

    def stop(self) -> None:
        """Ends it; connections are cut."""
        if self._program:
            self._program.stop()
            self._program = None

    def freeze(self) -> None:
        """It responds no more, and no connection ends: as behind a network that drops everything."""
        assert self._program
        self._program.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It continues."""
        assert self._program
        self._program.process.send_signal(signal.SIGCONT)

    def _accepts(self, program: Program) -> bool:
        program.check()
        try:
            with socket.create_connection((HOST, self._port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
