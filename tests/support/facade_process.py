"""The real facade as a process of its own, which a test may kill."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import httpx
from tests.support.certificate_authority import HOST
from tests.support.control_plane import free_port
from tests.support.controllers import Controller
from tests.support.facade import StoredResources
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for

from onair_crds.shapes import Document

START_S = 60.0
"""It takes some seconds of a core, which browsers and encoders beside it may have."""


class FacadeProcess:
    """One replica. Use as a context manager.

    Args:
        settings: over those of a test, as in a file of settings.
    """

    def __init__(
        self, kubeconfig: Path, resources: StoredResources, folder: Path, settings: Document
    ) -> None:
        port = free_port()
        document = {
            "listen": {"host": HOST, "port": port},
            "showNamespace": resources.shows,
            "releaseNamespace": resources.release,
            **settings,
        }
        self._program = Controller("facade", "onair_api", document, kubeconfig, folder)
        self.url = f"http://{HOST}:{port}"
        self.http = httpx.Client(base_url=self.url, trust_env=False, timeout=20, verify=NO_TLS)

    def __enter__(self) -> Self:
        self._program.__enter__()
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        self._program.__exit__()

    @contextmanager
    def killed(self) -> Iterator[None]:
        """It is away meanwhile, as after a crash, and is ready again afterwards."""
        self._program.kill()
        try:
            yield
        finally:
            self._start()

    def _start(self) -> None:
        self._program.start()
        wait_for(self._is_ready, f"the facade is ready, see {self._program.log}", START_S)

    def _is_ready(self) -> bool:
        assert self._program.running, self._program.log.read_text()
        with suppress(httpx.TransportError):
            return self.http.get("/readyz").is_success
        return False
