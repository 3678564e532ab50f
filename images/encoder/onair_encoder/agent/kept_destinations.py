"""Destinations whose Secret is gone: what this encoder has of them goes on. Pure."""

from __future__ import annotations

from onair_crds.contract.program import Program


def with_kept(program: Program, known: Program | None) -> Program:
    """The programme with the destinations that it wants kept, as far as they are known unchanged."""
    held = {(each.id, each.generation): each for each in known.destinations} if known else {}
    kept = [held[key] for each in program.kept if (key := (each.id, each.generation)) in held]
    return program.model_copy(update={"destinations": [*program.destinations, *kept]}) if kept else program
