"""Pages on the loopback of a pod, where all of a browser is open to them, and what they say.

Only there, or by HTTPS, are there service workers and CacheStorage.
"""

from __future__ import annotations

from pathlib import Path

from tests.support.docker import docker
from tests.support.pod_pair import PodPair

PORT = 18080
GIGABYTE = 1 << 30
SERVER = f"""
import http.server, pathlib, urllib.parse
root = pathlib.Path('/tmp/site')
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_): pass
    def say(self, text):
        with (root / 'said').open('a') as said: said.write(text + chr(10))
    def do_GET(self):
        path = urllib.parse.unquote(self.path)
        if path.startswith('/said/'):
            self.say(path[6:])
            self.answer(b'')
        elif path == '/gigabyte':
            self.send_response(200)
            self.send_header('Content-Disposition', 'attachment; filename=gigabyte')
            self.send_header('Content-Length', '{GIGABYTE}')
            self.end_headers()
            sent = 0
            try:
                while sent < {GIGABYTE}:
                    self.wfile.write(bytes(1 << 20)); sent += 1 << 20
            except OSError: pass
            self.say('download ' + str(sent))
        else:
            file = root / path.strip('/')
            self.answer(file.read_bytes() if file.is_file() else b'', 200 if file.is_file() else 404)
    def answer(self, body, status=200):
        self.send_response(status)
        script = self.path.endswith('.js')
        self.send_header('Content-Type', 'text/javascript' if script else 'text/html')
        self.send_header('Content-Length', str(len(body)))
        self.send_header('Cache-Control', 'no-store')
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(('0.0.0.0', {PORT}), Handler).serve_forever()
"""
SAY = "<!doctype html><script>const say = text => fetch('/said/' + encodeURIComponent(text));</script>"


class HostileSite:
    """Runs in the encoder's container of a pod."""

    def __init__(self, pair: PodPair) -> None:
        self._folder = pair.folder / "encoder-tmp/site"
        self._folder.mkdir(mode=0o777)
        self._folder.chmod(0o777)
        docker("exec", "-d", f"{pair.name}-encoder", "python3", "-c", SERVER)

    def page(self, name: str, body: str, host: str = "127.0.0.1") -> str:
        """Puts a page there; gives its address."""
        (self._folder / name).write_text(SAY + body)
        return f"http://{host}:{PORT}/{name}"

    def script(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text)

    def said(self) -> list[str]:
        """What pages have said so far."""
        file = self._folder / "said"
        return file.read_text().splitlines() if file.exists() else []


def stored(folder: Path) -> int:
    """Bytes on the disk below a folder."""
    return sum(each.lstat().st_blocks * 512 for each in folder.rglob("*") if each.is_file())
