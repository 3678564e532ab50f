"""A facade with a port for gateways."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.facade import FacadeThread, StartFacade, StoredResources
from tests.support.ingest.gateway_client import PublishHookClient, ingest_secret

from onair_api.settings import IngestSettings


@pytest.fixture(scope="session")
def hook_facade(start_facade: StartFacade, resources: StoredResources) -> Iterator[FacadeThread]:
    ingest_secret(resources)
    with start_facade(ingest=IngestSettings(hook_port=0)) as facade:
        yield facade


@pytest.fixture(scope="session")
def gateway(hook_facade: FacadeThread, resources: StoredResources) -> PublishHookClient:
    return PublishHookClient(hook_facade, ingest_secret(resources))
