"""The script that sends what goes to end points of clients to an installation: on host pages, in pods."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources
from typing import Annotated

from pydantic import Field

REDIRECT_PATH = "/sdk/redirect.js"
"""Of the facade. Loaded from there by an element, the script finds the installation by its own address."""

RedirectedHost = Annotated[
    str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$", max_length=253)
]
"""As browsers write the host of a url: lower case, a port only where it is not the scheme's own."""

REDIRECTED_HOSTS = ["live.api.stream", "live.stream.horse", "live.silly.horse"]
"""What versions of the public SDK have built in, for its environments `prod` and `stage`."""

SCRIPT = resources.files(__package__).joinpath("redirect.js").read_text()
SETTINGS = "SETTINGS"


def redirect_script(hosts: Iterable[str], base: str) -> str:
    """Returns the script that sends calls for public hosts to this installation.

    Args:
        base: http(s) address of the installation, for a script that does not come from there itself.
    """
    return with_settings(SCRIPT, {"hosts": sorted(hosts), "base": base})


def with_settings(script: str, settings: object) -> str:
    """The script with JSON in the place of its one parameter."""
    head, found, tail = script.rpartition(SETTINGS)
    if not found:
        raise ValueError("the script takes no settings")
    return f"{head}{json.dumps(settings)}{tail}"
