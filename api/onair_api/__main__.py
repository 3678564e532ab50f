"""`python -m onair_api`: runs the facade until SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import time
from collections.abc import Iterator

import structlog
import uvicorn
from fastapi import FastAPI

from onair_api import logs
from onair_api.application import create_app
from onair_api.connection.bound_sockets import bound_sockets
from onair_api.connection.closing_connections import ClosingConnections
from onair_api.connection.http_connection import connection_class
from onair_api.connection.idle_connections import IdleConnections
from onair_api.event.stream.heartbeat import PING_INTERVAL_S, PING_TIMEOUT_S
from onair_api.event.stream.websocket_connection import WebSocketConnection
from onair_api.rpc.native import NativeServer
from onair_api.services import Services
from onair_api.settings import ListenSettings, Settings
from onair_crds.kube.client import KubeClient
from onair_crds.runtime import event_loop
from onair_crds.runtime.core_dumps import prevent_core_dumps
from onair_crds.runtime.garbage import short_collections

log = structlog.get_logger()

NOT_STARTED = 3
"""Exit code of a server that could not begin, as uvicorn's own is."""
CONNECTIONS_POLL_S = 0.02


class Server(uvicorn.Server):
    """Ends in order on SIGTERM and then with success; uvicorn would die by the signal."""

    def __init__(
        self, config: uvicorn.Config, app: FastAPI, listen: ListenSettings, idle: IdleConnections
    ) -> None:
        super().__init__(config)
        self._idle = idle
        self._closing = ClosingConnections(self.server_state.connections)
        self._app = app
        self._services: Services = app.state.services
        self._listen = listen
        self._native_sockets: list[socket.socket] = []
        self.native: NativeServer | None = None

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serves at its ports until it is asked to end.

        Raises:
            SystemExit: a port is not to be had.
        """
        listen = self._listen
        try:
            sockets = sockets or bound_sockets(listen.host, listen.port)
            if listen.grpc_port is not None:
                self._native_sockets = bound_sockets(listen.host, listen.grpc_port)
        except OSError as error:
            log.error("api.cannot_listen", error=str(error))
            sys.exit(NOT_STARTED)
        await super().serve(sockets)

    async def on_tick(self, counter: int) -> bool:
        """What uvicorn does ten times a second."""
        self._closing.look(time.monotonic())
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._native_sockets and self.started:
            self.native = NativeServer(self._app, self._native_sockets, self._listen, self._idle, self._end)

    def _end(self) -> None:
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self.handle_exit, each, None)
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Lets streams and kept connections move to another replica first: uvicorn would cut them at once.

        A connection that is closed while its client sends the next request costs that request. So responses
        say `Connection: close` for a while before idle connections are closed.
        """
        for each in self.servers:
            each.close()
        state = self.server_state
        state.default_headers = [*state.default_headers, (b"connection", b"close")]
        streams = self._services.events.streams
        deadline = time.monotonic() + streams.drain_s
        await streams.drain()
        while state.connections and time.monotonic() < deadline:  # noqa: ASYNC110 - bounded, and only at the end
            await asyncio.sleep(CONNECTIONS_POLL_S)
        if self.native:
            await self.native.stop()
        await super().shutdown(sockets)


def server(settings: Settings, client: KubeClient) -> Server:
    """An HTTP server for the facade. It finishes running requests before it ends."""
    app = create_app(settings, client)
    idle = IdleConnections(settings.limits.idle_connections)
    config = uvicorn.Config(
        app,
        backlog=settings.listen.backlog,
        http=connection_class(idle),
        ws=WebSocketConnection,
        ws_per_message_deflate=False,
        ws_ping_interval=PING_INTERVAL_S,
        ws_ping_timeout=PING_TIMEOUT_S,
        ws_max_size=2 * settings.limits.body_bytes,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=round(settings.listen.shutdown_grace_s),
        timeout_keep_alive=75,
    )
    return Server(config, app, settings.listen, idle)


async def connect(kubeconfig: str | None = None) -> KubeClient:
    """A client of the API server. What it writes is kept as a whole or refused: definitions may be older."""
    return await KubeClient.connect(kubeconfig, program="onair-api", strict=True)


async def run(settings: Settings) -> None:
    """Serves the facade until it is asked to end."""
    async with await connect() as client:
        log.info(
            "api.started",
            port=settings.listen.port,
            shows=settings.show_namespace,
            release=settings.release_namespace,
        )
        made = server(settings, client)
        with short_collections():
            await made.serve()


def main() -> None:
    """Runs the program, with settings from its file and environment."""
    prevent_core_dumps()
    settings = Settings()
    logs.configure(settings.log_level)
    settings.warn_of_unknown_names()
    event_loop.run(run(settings))


if __name__ == "__main__":
    main()
