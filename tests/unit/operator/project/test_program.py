"""What a programme says of its page."""

from __future__ import annotations

import pytest
from tests.support.plans import kinds
from tests.support.worlds import NOW, SETTINGS, encoder, held, on_air, pod, project, world

from onair_crds.contract.pod import COMPOSITOR_URL
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


OWN = "https://own.example/"


@pytest.mark.parametrize(
    ("composition", "base_url", "page", "studio"),
    [
        ({"studioSdk": {"version": "3"}}, BASE, f"{BASE}/3/", True),
        ({"studioSdk": {"version": "3"}}, "", COMPOSITOR_URL, False),
        ({"studioSdk": {"rendererUrl": OWN}}, "", OWN, True),
        ({"studioSdk": {"rendererUrl": OWN, "version": "3"}}, BASE, OWN, True),
        ({"scene": {"rendererUrl": OWN}}, BASE, OWN, False),
        ({"scene": {}}, BASE, COMPOSITOR_URL, False),
        ({"external": {"url": OWN}}, BASE, OWN, False),
    ],
)
def test_a_programme_opens_the_page_that_is_asked_for(
    composition: Document, base_url: str, page: str, studio: bool
) -> None:
    """One of the studio finds sources as devices, and the facade at its end points."""
    made = program(composition, base_url)
    assert made.composition_url == page
    assert made.studio == (ProgramStudio(redirected_hosts=["built.in.example"]) if studio else None)


def test_an_encoder_that_reads_sources_keeps_its_programme_while_no_token_can_be_made() -> None:
    show = project(status={"broadcast": on_air()}, metadata=held())
    without = {"pods": [pod()], "sources_withheld": True}
    assert PushProgram not in kinds(world(show, encoders=[encoder()], **without))
    assert PushProgram in kinds(world(show, encoders=[encoder(id="before")], **without)), (
        "it has none of the run"
    )
    stopped = project("Stopped", status={"broadcast": on_air()}, metadata=held())
    assert PushProgram in kinds(world(stopped, encoders=[encoder()], **without))
