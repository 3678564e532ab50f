"""Programs of this process that soon try again what they were refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import kopf
import pytest

from onair_api import application
from onair_operator import runtime
from onair_operator.cluster import key_failures, resync, watch

RETRY_S = 0.1
ATTEMPTS = 1000
"""Of kopf, for one watch; after the last it ends, and is started again."""
usual_settings = watch.kopf_settings


def quick_settings() -> kopf.OperatorSettings:
    settings = usual_settings()
    settings.networking.error_backoffs = (RETRY_S,) * ATTEMPTS
    return settings


@contextmanager
def quick_retries() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as quick:
        quick.setattr(application, "KEY_RETRY_S", RETRY_S)
        quick.setattr(runtime, "START_RETRY_S", RETRY_S)
        quick.setattr(key_failures, "LAST_RETRY_S", RETRY_S)
        quick.setattr(key_failures, "FORBIDDEN_RETRY_S", RETRY_S)
        quick.setattr(resync, "LIST_RETRY_S", RETRY_S)
        quick.setattr(watch, "kopf_settings", quick_settings)
        yield
