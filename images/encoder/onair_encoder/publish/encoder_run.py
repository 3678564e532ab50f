"""The run whose programme is delivered, and which of its encoders this is."""

from __future__ import annotations

from dataclasses import dataclass, field

from onair_crds.contract.inside_addresses import EVERYWHERE, InsideRules
from onair_encoder.publish.operator_contact import OperatorContact


@dataclass(frozen=True)
class EncoderRun:
    broadcast: str = ""
    """Id of the run."""
    epoch: int = 0
    """Counts the encoders of the run: a higher one replaces a lower one."""
    contact: OperatorContact = field(default_factory=OperatorContact)
    inside: InsideRules = EVERYWHERE
    """Where its destinations must not lead to."""
