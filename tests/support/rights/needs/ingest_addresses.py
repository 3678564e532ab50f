"""Where publishers are led that an operator may not find ingest's addresses for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.support.helm import NAMESPACE
from tests.support.rights.installation import Installation
from tests.support.rights.need import Scenario
from tests.support.rights.objects import NODES, SERVICES, wait

from onair_crds.contract.ingest import ADDRESSES_CONFIG_MAP
from onair_operator.cluster import ingest_addresses

NODE = f"{NODES}/entrance"
KEPT = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{ADDRESSES_CONFIG_MAP}"
ADDRESSES = (f"192.0.2.{each}" for each in itertools.cycle(range(1, 250)))


def node_that_moves(installation: Installation) -> Iterator[None]:
    """They are sent on to where nobody is any more."""
    before, after = next(ADDRESSES), next(ADDRESSES)
    place_node(installation, before)
    with _looks_often(installation):
        name = installation.source()

        def led_to(address: str) -> bool:
            return address in str(installation.status("sources", name).get("address"))

        wait("publishers are led to the node", lambda: led_to(before))
        yield
        place_node(installation, after)
        installation.wait_refused(3)
        assert led_to(before)
        yield
        wait("they are led to where it is", lambda: led_to(after))


def place_node(installation: Installation, address: str) -> None:
    if not installation.exists(NODE):
        installation.create(NODES, metadata={"name": NODE.rpartition("/")[2]})
    addresses = [{"type": "InternalIP", "address": address}]
    ready = [{"type": "Ready", "status": "True"}]
    installation.patch(f"{NODE}/status", status={"addresses": addresses, "conditions": ready})


def kept_nowhere(installation: Installation) -> Iterator[None]:
    """Facades do not hear of them."""
    yield from _not_kept(installation, "endpoints")


def load_balancer(name: str) -> Scenario:
    """That of a region is not found."""

    def scenario(installation: Installation) -> Iterator[None]:
        address = next(ADDRESSES)
        status = {"loadBalancer": {"ingress": [{"ip": address}]}}
        installation.patch(f"{SERVICES}/{name}/status", status=status)
        yield from _not_kept(installation, address)

    return scenario


def _not_kept(installation: Installation, kept: str) -> Iterator[None]:
    installation.stop_operator()
    installation.delete(KEPT)
    yield
    with _looks_often(installation):
        installation.wait_refused(3)
        assert not installation.exists(KEPT)
        yield
        wait("they are kept", lambda: kept in installation.admin.get(KEPT).text)


@contextmanager
def _looks_often(installation: Installation) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as quick:
        quick.setattr(ingest_addresses, "INTERVAL_S", 0.1)
        installation.stop_operator()
        installation.operate()
        yield
