"""Destinations that cannot be handed over or read: what this encoder has of them continues. Pure."""

from __future__ import annotations

from onair_crds.contract.program import KeptDestination, Program, ProgramDestination


def with_kept(program: Program, known: Program | None) -> Program:
    """The programme with the destinations that it wants kept or that are unreadable, if known unchanged.

    One in the place of a wanted one is not kept: two streams there would end each other again and again.
    """
    taken = [_place(each) for each in program.destinations]
    held = {each.id: each for each in known.destinations} if known else {}
    to_keep = [*program.kept, *program.unreadable]
    known_kept = [mine for each in to_keep if (mine := held.get(each.id)) and _unchanged(mine, each)]
    kept = [each for each in known_kept if (place := _place(each)) is None or place not in taken]
    return program.model_copy(update={"destinations": [*program.destinations, *kept]}) if kept else program


def _unchanged(known: ProgramDestination, kept: KeptDestination) -> bool:
    """Whether it is of the same Destination, as far as both say, as that was then."""
    another = known.uid and kept.uid and known.uid != kept.uid
    return known.generation == kept.generation and not another


def _place(destination: ProgramDestination) -> tuple[object, ...] | None:
    """What one stream alone can have; None if destinations do not end each other."""
    if rtc := destination.rtc:
        return rtc.url, rtc.room, rtc.identity
    return (destination.url, destination.key) if destination.url else None
