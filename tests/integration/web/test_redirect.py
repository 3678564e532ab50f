"""End points that clients have built in lead to the installation, in a real browser, and nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from tests.support.loopback_server import on_loopback
from tests.support.scene.browser import Tab, tab
from tests.support.scene.media import ANYWHERE

from onair_crds.contract.redirect import redirect_script

pytestmark = pytest.mark.media

HOSTS = ["built.in.example", "stage.in.example:8443"]
UNTOUCHED = [
    "wss://in.example/a",
    "wss://notbuilt.in.example/a",
    "wss://built.in.example:444/a",
    "wss://stage.in.example/a",
    "wss://other.example/?to=wss://built.in.example/a",
]
ASK = """async function ask(how, url) {
  if (how === 'XMLHttpRequest') return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', url);
    request.onload = () => resolve(request.responseText);
    request.onerror = reject;
    request.send('given');
  });
  if (how === 'WebSocket') return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace('http', 'ws'), ['Bearer', 'token']);
    socket.onmessage = ({data}) => resolve(`${data} ${socket.protocol} ${socket instanceof WebSocket}`);
    socket.onerror = reject;
  });
  const options = {method: 'POST', body: 'given', headers: {'X-Given': 'header'}};
  if (how === 'Request') return (await fetch(new Request(url, options))).text();
  return (await fetch(how === 'URL' ? new URL(url) : url, options)).text();
}"""
ANSWERS = {
    "fetch": "POST /a/b?c=d given header",
    "URL": "POST /a/b?c=d given header",
    "Request": "POST /a/b?c=d given header",
    "XMLHttpRequest": "POST /a/b?c=d given ",
    "WebSocket": "ws /a/b?c=d Bearer true",
}


@dataclass
class EchoInstallation:
    """Answers with what it was asked."""

    url: str = ""
    base: str = "http://nowhere.invalid"
    """What its script takes where it does not know its own address."""
    preflights: list[str] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/sdk/redirect.js"):
            return web.Response(text=redirect_script(HOSTS, self.base), content_type="text/javascript")
        if request.path == "/":
            return web.Response(text="<!doctype html>", content_type="text/html")
        path = request.path_qs.removeprefix("/prefix")
        if request.headers.get("Upgrade"):
            socket = web.WebSocketResponse(protocols=["Bearer"])
            await socket.prepare(request)
            await socket.send_str(f"ws {path}")
            await socket.close()
            return socket
        if request.method == "OPTIONS":
            self.preflights.append(request.path)
            allowed = {"Access-Control-Allow-Headers": "*", "Access-Control-Allow-Methods": "*"}
            return web.Response(headers={**ANYWHERE, **allowed})
        text = f"{request.method} {path} {await request.text()} {request.headers.get('X-Given', '')}"
        return web.Response(text=text, headers=ANYWHERE)


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[EchoInstallation]:
    installation, app = EchoInstallation(), web.Application()
    app.router.add_route("*", "/{path:.*}", installation.serve)
    async with on_loopback(app) as installation.url:
        yield installation


async def load(page: Tab, script: str) -> None:
    await page.until("document.readyState === 'complete' && location.protocol === 'http:'")
    await page.evaluate(f"""new Promise((resolve, reject) => {{
      const element = document.createElement('script');
      element.src = '{script}';
      element.onload = resolve;
      element.onerror = reject;
      document.head.append(element);
    }})""")


async def check(page: Tab) -> None:
    await page.evaluate(f"{ASK}; window.ask = ask; 0")
    for scheme, host in (("https", HOSTS[0]), ("https", HOSTS[1]), ("http", HOSTS[0])):
        for how, answer in ANSWERS.items():
            got = await page.evaluate(f"ask('{how}', '{scheme}://{host}/a/b?c=d')")
            assert got == answer, (how, scheme, host)
    for url in UNTOUCHED:
        assert await page.evaluate(f"new WebSocket('{url}').url") == url
    assert await page.evaluate("ask('fetch', '/own')") == "POST /own given header"
    assert await page.evaluate("fetch(new Request('/own')).then(answer => answer.text())") == "GET /own  "
    assert await page.evaluate("fetch().catch(error => error.name)") == "TypeError"


async def test_a_host_page_that_loads_the_script_talks_to_where_it_is_from(chromium: str) -> None:
    async with serving() as installation, serving() as own, tab(chromium, own.url, 320, 180) as page:
        await load(page, f"{installation.url}/prefix/sdk/redirect.js?v=1")
        await check(page)
        assert all(path.startswith("/prefix/") for path in installation.preflights)
        assert installation.preflights
        assert not own.preflights


async def test_a_script_that_is_given_to_a_page_leads_to_the_address_that_it_was_given(chromium: str) -> None:
    async with serving() as installation, serving() as own:
        script = redirect_script(HOSTS, f"{installation.url}/prefix/")
        async with tab(chromium, own.url, 320, 180, script) as page:
            await load(page, f"{own.url}/sdk/redirect.js")  # the page brings its own: the first one holds
            await check(page)
            assert installation.preflights
            assert not own.preflights
