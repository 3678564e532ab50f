"""A door of one method, and the service behind it."""

from __future__ import annotations

import pytest
from tests.support.rpc_door import ScriptedProjects, operation

from onair_api.auth.callers import ByAnybody, Callers
from onair_api.rpc.door import Door
from onair_api.rpc.method import Method
from onair_api.settings import LimitSettings


@pytest.fixture
def projects() -> ScriptedProjects:
    return ScriptedProjects()


@pytest.fixture
def door(projects: ScriptedProjects) -> Door:
    limits = LimitSettings(body_bytes=2048)
    callers = Callers(None, None, None)  # type: ignore[arg-type]
    return Door([Method(operation(ByAnybody()), projects, callers, limits, {})], limits)
