"""The address that the page is opened with: the programme's, with the token and `debug=true` in its query."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from onair_crds.contract.program import Program
from onair_encoder.scene.feed import draws_scene

TOKEN = "at"  # noqa: S105 - the name of a parameter
DEBUG = "debug"


class PageAddress:
    """Stays the same for the same page: a new token is no reason to load it again."""

    def __init__(self) -> None:
        self._page: tuple[str, bool] | None = None
        self._address = ""

    def of(self, program: Program) -> str:
        # The built-in page is sent debug, so that it need not be loaded again
        debug = bool(program.scene and program.scene.debug) and not draws_scene(program)
        page = program.composition_url, debug
        if page != self._page:
            token = program.page_token.get_secret_value() if program.page_token else None
            self._page, self._address = page, address(program.composition_url, token, debug=debug)
        return self._address


def address(url: str, token: str | None, *, debug: bool) -> str:
    """The url with what pages are given; the rest of its query is kept, in order.

    What is no url stays as it is: the browser says so.
    """
    told = {**({TOKEN: token} if token else {}), **({DEBUG: "true"} if debug else {})}
    if not told:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    query = [
        (name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name not in told
    ]
    return urlunsplit(parts._replace(query=urlencode([*query, *told.items()])))
