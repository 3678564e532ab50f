"""What runs on a page of the studio before its own scripts: sources as devices, end points that lead here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources

from onair_crds.contract.pod import ENGINE_PORT, FACADE_PATH, SOURCES_PATH, SOURCES_PORT
from onair_crds.contract.program import Program
from onair_crds.contract.redirect import redirect_script, with_settings

LOOPBACK = f"http://127.0.0.1:{SOURCES_PORT}"
ENGINE = f"ws://127.0.0.1:{ENGINE_PORT}"
DEVICES = resources.files(__package__).joinpath("devices.js").read_text()


def page_script(program: Program, origin: str | None) -> str | None:
    """The script of a programme's page; None for every other page than one of the studio.

    Args:
        origin: of the page that is wanted.
    """
    if program.studio is None or origin is None:
        return None
    return studio_script(origin, program.studio.redirected_hosts)


def studio_script(origin: str, hosts: Iterable[str], loopback: str = LOOPBACK, engine: str = ENGINE) -> str:
    """The script for a page of this origin. What the page embeds, or leaves for, finds nothing of ours.

    Args:
        hosts: which lead to the facade.
        loopback: where the agent serves sources, and the facade.
        engine: its engine socket.
    """
    redirect = redirect_script(hosts, f"{loopback}{FACADE_PATH}")
    settings = {"engine": engine, "script": f"{loopback}{SOURCES_PATH}/source.js"}
    ours = f"window === window.top && location.origin === {json.dumps(origin)}"
    return f"if ({ours}) {{\n{redirect}{with_settings(DEVICES, settings)}}}\n"
