"""A facade's watch of one kind that brings nothing any more, while all others go on."""

from __future__ import annotations

import pytest
from tests.support.facade import FacadeThread

from onair_api.cache.view import View


def hold_up(facade: FacadeThread, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The replica's watch brings nothing of this kind any more."""
    watch = next(each for each in facade.services.cluster._reflectors if each.kind == kind)
    monkeypatch.setattr(watch, "_store", View())


def hold_up_with_events(facade: FacadeThread, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, and it announces nothing of this kind."""
    hold_up(facade, kind, monkeypatch)
    watch = next(each for each in facade.services.cluster._reflectors if each.kind == kind)
    monkeypatch.setattr(watch, "listener", None)
