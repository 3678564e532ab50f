"""What programs hand each other is JSON, camelCase, of models that both import."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer, SecretStr, SerializationInfo
from pydantic.alias_generators import to_camel


class WireModel(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        use_attribute_docstrings=True,
        hide_input_in_errors=True,
    )

    def wire(self) -> str:
        """Encodes it as JSON, camelCase, secrets in clear: only for the wire and the memory volume."""
        return self.model_dump_json(by_alias=True, context={"reveal": True})


def _reveal(value: SecretStr, info: SerializationInfo) -> str:
    return value.get_secret_value() if (info.context or {}).get("reveal") else "**********"


Secret = Annotated[SecretStr, PlainSerializer(_reveal)]
"""In clear on the wire, masked everywhere else."""
