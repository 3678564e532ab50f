"""A real Redis for tests."""

import shutil
import signal
import socket
from pathlib import Path

from redis import Redis
from tests.support.certificate_authority import HOST
from tests.support.child_process import START_TIMEOUT_S, ChildProcess, ServerError
from tests.support.control_plane import free_port
from tests.support.processes import suspend
from tests.support.waiting import wait_for


class RedisServer:
    """A Redis without persistence that a test can stop and restart on the same port."""

    def __init__(
        self, folder: Path, password: str = "", certificate: tuple[Path, Path, Path] | None = None
    ) -> None:
        """
        Args:
            password: that it requires, if any.
            certificate: files of a certificate, its key and its CA, where it speaks TLS alone.
        """
        binary = shutil.which("redis-server")
        if binary is None:
            raise ServerError("redis-server was not found: install the package redis-server")
        self._binary = binary
        self._folder = folder
        self._port = free_port()
        self._process: ChildProcess | None = None
        self.password = password
        """What it requires once it has been started again."""
        self._certificate = certificate
        self.url = f"{'rediss' if certificate else 'redis'}://{HOST}:{self._port}/0"

    def start(self) -> None:
        """Starts Redis and waits until it accepts connections."""
        config = self._folder / "redis.conf"
        config.write_text(f"requirepass {self.password}\n" if self.password else "")
        options = [
            str(config),
            "--bind",
            HOST,
            "--dir",
            str(self._folder),
            "--save",
            "",
            "--appendonly",
            "no",
        ]
        process = ChildProcess([self._binary, *options, *self._listens()], self._folder / "redis.log")
        self._process = process
        wait_for(lambda: self._accepts(process), "redis-server ready", START_TIMEOUT_S)

    @property
    def running(self) -> bool:
        return self._process is not None

    def stop(self) -> None:
        """Stops Redis; connections break."""
        if self._process:
            self._process.stop()
            self._process = None

    def listen_at(self, port: int) -> None:
        """Listens at another port from now on; connections stay."""
        with Redis.from_url(self.url, password=self.password or None) as redis:
            redis.config_set("port", port)

    def freeze(self) -> None:
        """Suspends Redis: no responses, but open connections, as behind a network that drops all packets."""
        assert self._process
        suspend(self._process.process.pid)

    def thaw(self) -> None:
        """Resumes Redis."""
        assert self._process
        self._process.process.send_signal(signal.SIGCONT)

    def _listens(self) -> list[str]:
        port = str(self._port)
        if self._certificate is None:
            return ["--port", port]
        files = zip(("cert", "key", "ca-cert"), self._certificate, strict=True)
        options = [part for option, file in files for part in (f"--tls-{option}-file", str(file))]
        return ["--port", "0", "--tls-port", port, "--tls-auth-clients", "no", *options]

    def _accepts(self, process: ChildProcess) -> bool:
        process.check()
        try:
            with socket.create_connection((HOST, self._port), timeout=1) as connection:
                if self._certificate:
                    return True
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False
