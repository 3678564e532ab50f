"""Pages on the loopback of a pod, where all of a browser is open to them, and what they say.

Only there, or by HTTPS, are there service workers and CacheStorage. Names that end in `.localhost` lead there
too, and each is a site of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.support.ingest.pod_page import END_S, PORT
from tests.support.waiting import wait_for

GIGABYTE = 1 << 30
SERVER = f"""
import http.server, json, os, sys, threading, time, urllib.parse
files, said = {{}}, []
def tell():
    # Many at a time: each write costs all that is between here and there
    while True:
        time.sleep(0.1)
        if told := said[:]:
            del said[:len(told)]
            print(json.dumps(told), flush=True)
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_): pass
    def do_GET(self):
        path = urllib.parse.unquote(self.path.partition('?')[0]).strip('/')
        if path.startswith('said/'):
            said.append(['said', path[5:]])
            self.answer('')
        elif path == 'gigabyte':
            self.send_response(200)
            self.send_header('Content-Disposition', 'attachment; filename=gigabyte')
            self.send_header('Content-Length', '{GIGABYTE}')
            self.end_headers()
            sent = 0
            try:
                while sent < {GIGABYTE}:
                    self.wfile.write(bytes(1 << 20)); sent += 1 << 20
            except OSError: pass
            said.append(['said', 'download ' + str(sent)])
        else:
            self.answer(files.get(path, ''), 200 if path in files else 404)
    def answer(self, text, status=200):
        body = text.encode()
        self.send_response(status)
        script = self.path.endswith('.js')
        self.send_header('Content-Type', 'text/javascript' if script else 'text/html')
        self.send_header('Content-Length', str(len(body)))
        self.send_header('Cache-Control', 'no-store')
        self.end_headers()
        self.wfile.write(body)
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    def handle_error(self, *_): pass  # a page that is gone
server = Server(('0.0.0.0', {PORT}), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
threading.Thread(target=tell, daemon=True).start()
for line in sys.stdin:
    name, files[name] = json.loads(line)
    said.append(['there', name])
os._exit(0)
"""
"""Ends with its input: whoever ends `exec` does not end what it runs."""
SAY = "<!doctype html><script>const say = text => fetch('/said/' + encodeURIComponent(text));</script>"


class HostileSite:
    """Runs in the encoder's container of a pod. Use as a context manager."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] = os.environ) -> None:
        """
        Args:
            command: runs another one there, with its input and output: `docker exec -i`, or kubectl's.
            environment: of the command.
        """
        self._command, self._environment = [*command, "python3", "-c", SERVER], environment
        self._said: list[str] = []
        self._there: set[str] = set()

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            for what, text in json.loads(line):
                if what == "said":
                    self._said.append(text)
                else:
                    self._there.add(text)

    def page(self, name: str, body: str, host: str = "127.0.0.1") -> str:
        """Puts a page there; gives its address."""
        self.script(name, SAY + body)
        return f"http://{host}:{PORT}/{name}"

    def script(self, name: str, text: str) -> None:
        assert self._process.stdin
        self._there.discard(name)
        self._process.stdin.write(f"{json.dumps([name, text])}\n")
        self._process.stdin.flush()
        wait_for(lambda: name in self._there, f"{name} is there")

    def said(self) -> list[str]:
        """What pages have said so far."""
        return [*self._said]


def stored(folder: Path) -> int:
    """Bytes on the disk below a folder."""
    return sum(each.lstat().st_blocks * 512 for each in folder.rglob("*") if each.is_file())
