"""A page that turns into an error by itself, or takes more than there is."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker
from tests.support.pages import responding, served
from tests.support.pod_pair import PodPair, programme

pytestmark = pytest.mark.media

RELOADS = "<!doctype html><script>setTimeout(() => location.reload(), 300)</script>"
GREEDY = """<!doctype html><script>
const kept = [];
setInterval(() => kept.push(new Uint8Array(3 << 20).fill(1)), 50);
</script>"""


def test_a_page_that_reloads_itself_into_an_error_is_noticed(pair: PodPair, far_end: RtmpContainer) -> None:
    """Also where the server has no page for its error and the browser shows one of its own."""
    response = 200, RELOADS

    def reports(error: str) -> bool:
        return pair.status().composition_error == error

    with responding(lambda _: response) as url:
        pair.put(programme(url, far_end))
        pair.wait_phase("running")
        for text in ("<h1>sorry</h1>", ""):
            response = 503, text
            expected = f"{urlsplit(url).netloc} responds with HTTP 503"
            pair.wait_for(partial(reports, expected), "noticed")
            response = 200, RELOADS
            pair.wait_for(lambda: pair.status().composition_error is None, "loaded again")


def test_a_page_that_takes_too_much_memory_costs_the_browser_and_not_the_pod(
    tmp_path: Path, far_end: RtmpContainer
) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/greedy.html").write_text(GREEDY)
    with served(tmp_path / "pages") as address, PodPair(tmp_path, browser_memory_mib=700) as pair:
        pair.wait_agent()
        pair.put(programme(f"{address}/greedy.html", far_end))
        pair.wait_for(
            lambda: (pair.status().composition_error or "").startswith("the page takes more than"),
            "bounded",
            30,
        )
        state = docker("inspect", "-f", "{{.State.Running}} {{.State.OOMKilled}}", f"{pair.name}-browser")
        assert state == "true false"
