"""`python -m onair_api`: runs the facade until SIGTERM."""

from __future__ import annotations

import structlog
import uvicorn
import uvloop

from onair_api import logs
from onair_api.application import create_app
from onair_api.settings import Settings
from onair_crds.client import KubeClient

log = structlog.get_logger()


def server(settings: Settings, client: KubeClient) -> uvicorn.Server:
    """An HTTP server for the facade. It answers what it has begun before it ends."""
    config = uvicorn.Config(
        create_app(settings, client),
        host=settings.listen.host,
        port=settings.listen.port,
        backlog=settings.listen.backlog,
        http="httptools",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=round(settings.listen.shutdown_grace_s),
        timeout_keep_alive=75,
    )
    return uvicorn.Server(config)


async def run(settings: Settings) -> None:
    async with await KubeClient.connect() as client:
        log.info(
            "api.started",
            port=settings.listen.port,
            shows=settings.show_namespace,
            release=settings.release_namespace,
        )
        await server(settings, client).serve()


def main() -> None:
    settings = Settings()
    logs.configure(settings.log_level)
    uvloop.run(run(settings))


if __name__ == "__main__":
    main()
