"""What a programme says of its page."""

from __future__ import annotations

import pytest
from tests.support.worlds import NOW, SETTINGS, encoder, held, on_air, pod, project, world

from onair_crds.contract.program import Program, ProgramStudio
from onair_crds.shapes import Document
from onair_operator.cluster.actions import PushProgram
from onair_operator.project.plan import make_plan

BASE = "https://studio.example/renderer"


def program(composition: Document, base_url: str) -> Program:
    settings = SETTINGS.model_copy(
        update={"renderer_base_url": base_url, "redirected_hosts": ["built.in.example"]}
    )
    show = project(composition=composition, status={"broadcast": on_air()}, metadata=held())
    observed = world(show, pods=[pod()], encoders=[encoder()])
    [push] = [each for each in make_plan(observed, NOW, settings) if isinstance(each, PushProgram)]
    return push.program


@pytest.mark.parametrize(
    ("composition", "base_url", "studio"),
    [
        ({"studioSdk": {"version": "3"}}, BASE, True),
        ({"studioSdk": {"version": "3"}}, "", False),
        ({"studioSdk": {"rendererUrl": "https://own.example/"}}, "", True),
        ({"scene": {"rendererUrl": "https://own.example/"}}, BASE, False),
        ({"external": {"url": "https://own.example/"}}, BASE, False),
    ],
)
def test_a_page_of_the_studio_finds_sources_as_devices_and_the_facade_at_its_end_points(
    composition: Document, base_url: str, studio: bool
) -> None:
    wanted = ProgramStudio(redirected_hosts=["built.in.example"]) if studio else None
    assert program(composition, base_url).studio == wanted
