"""Somebody inside, whom a page must not reach: listens at many ports, and says at which somebody came."""

from __future__ import annotations

import subprocess
import uuid
from typing import Self

from tests.support.child_process import START_TIMEOUT_S
from tests.support.docker import address_of, docker, own_image, remove
from tests.support.waiting import wait_for

SECRET = "what is inside"
CONNECT = """
import socket, sys
from concurrent.futures import ThreadPoolExecutor
def connects(address):
    host, _, port = address.rpartition(':')
    try:
        socket.create_connection((host, int(port)), 2).close()
        return True
    except OSError:
        return False
with ThreadPoolExecutor(16) as pool:
    for address, connected in zip(sys.argv[1:], pool.map(connects, sys.argv[1:])):
        if connected:
            print(address)
"""
"""A program that prints which of the addresses it is given its user can connect to."""
CONTROL = 9999
"""Port of a request `/<port>`, at which it listens from then on."""
SERVER = r"""
import asyncio, socket, struct, sys
secret, rebound, *ports = sys.argv[1:]
known = set()
def say(*words):
    if words not in known:
        known.add(words)
        print(*words, flush=True)
async def serve(reader, writer):
    port = writer.get_extra_info("sockname")[1]
    say("tcp", port)
    try:
        async with asyncio.timeout(10):
            head = await reader.readuntil(b"\r\n\r\n")
        body = secret.encode()
        writer.write(b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/html\r\n"
                     b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
    except (OSError, EOFError, asyncio.LimitOverrunError):
        pass  # who came sent no request, and has been counted
    writer.close()
class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, port): self.port = port
    def datagram_received(self, data, sender): say("udp", self.port)
class Names(asyncio.DatagramProtocol):
    # The address that a rebound name has: the page's server, and from a page's word on this machine
    own = socket.gethostbyname(socket.gethostname())
    def connection_made(self, transport): self.transport = transport
    def datagram_received(self, data, sender):
        end = data.index(b"\0", 12) + 5
        kind, = struct.unpack("!H", data[end - 4:end - 2])
        name = data[13:end - 5].replace(bytes([4]), b".")
        mine = name.endswith(b"test") and kind == 1
        addresses = [socket.inet_aton(each) for each in (rebound, self.own)] if mine else []
        flags = 0x8180 if name.endswith(b"test") else 0x8183
        head = data[:2] + struct.pack("!HHHHH", flags, 1, len(addresses), 0, 0) + data[12:end]
        self.transport.sendto(head + b"".join(b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 1, 4) + each
                                              for each in addresses), sender)
async def control(reader, writer):
    port = int((await reader.readline()).split()[1].strip(b"/"))
    await asyncio.start_server(serve, "0.0.0.0", port)
    writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()
async def main():
    loop = asyncio.get_running_loop()
    for each in ports:
        protocol, port = each.split(":")
        if protocol == "udp":
            await loop.create_datagram_endpoint(lambda p=port: Datagrams(p), ("0.0.0.0", int(port)))
        else:
            await asyncio.start_server(serve, "0.0.0.0", int(port))
    await loop.create_datagram_endpoint(Names, ("0.0.0.0", 53))
    await asyncio.start_server(control, "0.0.0.0", CONTROL)
    print("ready", flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


class Inside:
    """Use as a context manager. It is a name server, too, whose names in `.test` have two addresses."""

    def __init__(self, first_address: str, *ports: str, network: str = "bridge", address: str = "") -> None:
        """
        Args:
            first_address: of names in `.test`; the other one is its own.
            ports: as in `tcp:6443`.
            network: of Docker.
            address: that it is to have there.
        """
        self.name = f"onair-test-inside-{uuid.uuid4().hex[:8]}"
        self._network = ["--network", network, *(["--ip", address] if address else [])]
        self._arguments = [SECRET, first_address, *ports]
        self.address = address

    def __enter__(self) -> Self:
        docker(
            *("run", "-d", "--name", self.name, *self._network, "--user", "0:0", "--entrypoint", "python3"),
            *(own_image("encoder"), "-c", SERVER.replace("CONTROL", str(CONTROL)), *self._arguments),
        )
        self.address = self.address or address_of(self.name)
        wait_for(lambda: "ready" in self._said(), "somebody inside listens", START_TIMEOUT_S)
        return self

    def __exit__(self, *_: object) -> None:
        remove(self.name)

    def _said(self) -> list[str]:
        done = subprocess.run(["docker", "logs", self.name], check=False, capture_output=True, text=True)
        return (done.stdout + done.stderr).splitlines()

    @property
    def reached(self) -> set[str]:
        """Ports at which somebody came, as in `tcp:6443`."""
        return {line.replace(" ", ":") for line in self._said() if line.startswith(("tcp ", "udp "))}
