"""A composition page on the loopback of an encoder pod in the cluster, which is a secure context."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from tests.support.cluster import SHOWS, LocalCluster

from onair_crds.contract.pod import SOURCES_PATH, SOURCES_PORT

PORT = 8461
URL = f"http://127.0.0.1:{PORT}/"
PAGE = f"""<!doctype html><meta charset="utf-8"><title>source</title>
<style>html,body{{margin:0;background:#000;overflow:hidden}}video{{display:block;width:100vw;height:100vh}}</style>
<script type="module">
import {{Source}} from 'http://127.0.0.1:{SOURCES_PORT}{SOURCES_PATH}/source.js';
const source = new Source('SOURCE', {{delayMs: 100}});
document.body.append(source.video);
source.audio.connect(source.audioContext.destination);
</script>"""
END_S = 5
SERVER = f"""
import http.server, os, sys, threading
page = sys.stdin.buffer.read(int(sys.stdin.buffer.readline()))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        for policy in sys.argv[1:]:
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.wfile.write(page)
server = http.server.ThreadingHTTPServer(("127.0.0.1", {PORT}), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.buffer.read()
os._exit(0)
"""
"""Ends with its input: whoever ends `exec` does not end what it runs."""


@contextmanager
def page_in_pod(cluster: LocalCluster, pod: str, page: str) -> Iterator[None]:
    """Serves a page at `URL` within a pod."""
    command = [str(cluster.kubectl_path), "-n", SHOWS, "exec", "-i", pod, "-c", "encoder", "--"]
    with served_by(command, page, {"KUBECONFIG": str(cluster.kubeconfig_path)}):
        yield


def page_in_container(container: str, page: str, *policies: str) -> AbstractContextManager[None]:
    """Serves a page at `URL` within a container of Docker, with these Content-Security-Policies."""
    return served_by(["docker", "exec", "-i", container], page, {}, *policies)


@contextmanager
def served_by(command: list[str], page: str, environment: dict[str, str], *policies: str) -> Iterator[None]:
    """Serves a page by a command that runs another one where the page is to be."""
    serving = subprocess.Popen(
        [*command, "python3", "-c", SERVER, *policies],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    stdin = serving.stdin
    assert stdin
    try:
        stdin.write(f"{len(page.encode())}\n{page}".encode())
        stdin.flush()
        yield
    finally:
        stdin.close()
        try:
            serving.wait(END_S)
        except subprocess.TimeoutExpired:
            # Beside a page that takes all it can get, containerd was seen to take a minute
            serving.kill()
            serving.wait()


def page_of_source(cluster: LocalCluster, pod: str, source_id: str) -> AbstractContextManager[None]:
    """Serves a page within a pod that shows one source over all of the canvas."""
    return page_in_pod(cluster, pod, PAGE.replace("SOURCE", source_id))
