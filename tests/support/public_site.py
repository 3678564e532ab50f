"""A site at an address that Chromium takes for one of the internet, and what its pages say."""

from __future__ import annotations

import ipaddress
import subprocess
import uuid
from pathlib import Path
from typing import Self
from urllib.parse import unquote

from cryptography import x509
from tests.support.certificate_authority import CertificateAuthority
from tests.support.child_process import START_TIMEOUT_S
from tests.support.docker import docker, own_image, remove
from tests.support.waiting import wait_for

ADDRESS, NETWORK = "44.155.8.7", "44.155.8.0/24"
FOLDER = "/srv/site"
SERVER = f"""
import http.server, ssl, sys
page = open('{FOLDER}/page.html', 'rb').read()
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        if self.path.startswith('/said/'):
            print('said', self.path[6:], flush=True)
        body = page if self.path.partition('?')[0] == '/' else b''
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        self.send_header('Content-Length', str(len(body)))
        self.send_header('Cache-Control', 'no-store')
        self.end_headers()
        self.wfile.write(body)
secure = sys.argv[1] == 'https'
server = http.server.ThreadingHTTPServer(('0.0.0.0', 443 if secure else 80), Handler)
if secure:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain('{FOLDER}/server.crt', '{FOLDER}/server.key')
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print('ready', flush=True)
server.serve_forever()
"""
SAY = "<!doctype html><script>const say = text => fetch('/said/' + encodeURIComponent(text));</script>"


class PublicSite:
    """Use as a context manager, in a network of Docker that has its address."""

    def __init__(self, folder: Path, network: str, page: str, scheme: str = "https") -> None:
        """
        Args:
            scheme: http or https, with a certificate of its own CA.
        """
        self._scheme = scheme
        self.name = f"onair-test-site-{uuid.uuid4().hex[:8]}"
        self._network, self._folder = network, folder
        folder.mkdir()
        self.authority = CertificateAuthority(folder)
        address = x509.IPAddress(ipaddress.ip_address(ADDRESS))
        certificate, key = self.authority.issue("server", ADDRESS, names=[address])
        for each in (certificate, key):
            each.chmod(0o644)
        (folder / "page.html").write_text(SAY + page)

    def __enter__(self) -> Self:
        docker(
            *("run", "-d", "--name", self.name, "--network", self._network, "--ip", ADDRESS),
            *("--user", "0:0", "-v", f"{self._folder}:{FOLDER}:ro", "--entrypoint", "python3"),
            *(own_image("encoder"), "-c", SERVER, self._scheme),
        )
        wait_for(lambda: "ready" in self._lines(), "the public site listens", START_TIMEOUT_S)
        return self

    def __exit__(self, *_: object) -> None:
        remove(self.name)

    @property
    def url(self) -> str:
        return f"{self._scheme}://{ADDRESS}/"

    def said(self) -> list[str]:
        """What pages have said so far."""
        return [unquote(line[5:]) for line in self._lines() if line.startswith("said ")]

    def _lines(self) -> list[str]:
        done = subprocess.run(["docker", "logs", self.name], check=False, capture_output=True, text=True)
        return (done.stdout + done.stderr).splitlines()
