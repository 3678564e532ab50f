"""Docker, as far as tests use it: containers, their addresses, and the images that were built last."""

from __future__ import annotations

import functools
import ipaddress
import json
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from onair_crds.shapes import JsonObject
from onair_dev.cluster import images
from onair_dev.cluster.base_images import has_image


def docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def network_of(subnet: str) -> Iterator[str]:
    """A network of Docker in which there may be any address."""
    name = f"onair-test-{uuid.uuid4().hex[:8]}"
    docker("network", "create", "--subnet", subnet, name)
    try:
        yield name
    finally:
        docker("network", "rm", name)


def remove(container: str) -> None:
    subprocess.run(["docker", "rm", "-f", container], check=False, capture_output=True)


def address_of(container: str) -> str:
    return docker("inspect", "-f", "{{.NetworkSettings.IPAddress}}", container)


def host_address() -> str:
    """Where containers on Docker's default bridge reach this machine."""
    (bridge,) = json.loads(docker("network", "inspect", "bridge"))
    return gateway_of(bridge)


def gateway_of(network: JsonObject) -> str:
    """From `docker network inspect`: until a new daemon is restarted the default bridge names no gateway.

    It is the first address of its subnet then.
    """
    (ipam, *_) = network["IPAM"]["Config"]
    if gateway := ipam.get("Gateway"):
        return str(gateway)
    return str(next(ipaddress.ip_network(ipam["Subnet"]).hosts()))


@functools.cache
def own_image(name: str) -> str:
    """The image of ours that is built of this checkout's files, and no other's."""
    wanted = images.image(name).reference
    if not has_image(wanted):
        how = "make images" if name in images.NAMES else "make tools"
        pytest.fail(f"{wanted} is not built: run `{how}`", pytrace=False)
    return wanted


def kill_within(container: str, program: str, number: int = signal.SIGKILL) -> int:
    """Kills one process inside a container, by a part of its command line; its pid, or 0 for none."""
    killed = docker("exec", container, "python3", "-c", KILL, program, str(number))
    return int(killed or "0")


KILL = """
import os, sys
for pid in sorted(filter(str.isdigit, os.listdir('/proc')), key=int):
    try: line = open(f'/proc/{pid}/cmdline').read().replace('\\0', ' ')
    except OSError: continue
    if int(pid) not in (1, os.getpid()) and sys.argv[1] in line:
        os.kill(int(pid), int(sys.argv[2])); print(pid); break
"""
