"""What an operator says of a room whose server's credentials it may not read."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.helm import NAMESPACE
from tests.support.rights.installation import Installation
from tests.support.rights.need import Scenario
from tests.support.rights.objects import secrets_of, wait


def room_that_does_not_open(secret: str) -> Scenario:
    def scenario(installation: Installation) -> Iterator[None]:
        installation.secret(secrets_of(NAMESPACE), secret, apiKey="key", apiSecret="s" * 32)
        installation.stop_operator()
        yield
        installation.operate()
        project = installation.project(webrtc={"hosted": {}}, room={"state": "Open"})
        unread = f"the Secret {secret} with the room server's credentials cannot be read"

        def error() -> str:
            return str((installation.status("projects", project).get("room") or {}).get("error") or "")

        wait("it says why", lambda: error() == unread)
        yield
        wait("its server is asked", lambda: error() not in ("", unread))

    return scenario
