"""What users do not get from a facade that lacks a right."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from tests.support.facade import User
from tests.support.helm import NAMESPACE
from tests.support.operations import CALLS, LATER, OperationWorld
from tests.support.rights.installation import TOKEN, Installation
from tests.support.rights.need import Scenario
from tests.support.rights.objects import SECRETS, secrets_of, wait

from onair_api.auth import ingest_secret
from onair_crds.contract.ingest import ADDRESSES_CONFIG_MAP, ADDRESSES_KEY
from onair_crds.contract.ingest_gateway import INGEST_SECRET, INGEST_SECRET_KEY
from onair_crds.contract.labels import GUEST_CODE_LABEL, SIGNING_KEY_TYPE

ANNA = {"serviceUserId": "anna"}
KINDS = {
    "collections": ("Collection", "c"),
    "projects": ("Project", "p"),
    "sources": ("Source", "s"),
    "destinations": ("Destination", "d"),
    "layouts": ("Layout", "l"),
}
"""By plural: the kind, and the id of one in `OperationWorld`."""
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"


def world_of(installation: Installation) -> OperationWorld:
    return OperationWorld(installation.host(), set(CALLS))


def call(world: OperationWorld, name: str) -> httpx.Response:
    response: httpx.Response = world.call(world.host, CALLS[name])
    return response


def says(response: httpx.Response, status: int, text: str) -> bool:
    """Whether a response has a status, and a text in it."""
    assert (response.status_code, text in response.text) == (status, True), response.text
    return True


def lacks_right(response: httpx.Response) -> bool:
    return says(response, 500, "check its RBAC")


def operation(name: str, *, unknown: str = "") -> Scenario:
    """An operation is an error.

    Args:
        unknown: the id in `OperationWorld` of something that is not there, as the operation is to say.
    """

    def scenario(installation: Installation) -> Iterator[None]:
        world = world_of(installation)
        if unknown:
            world.ids[unknown] = "unknown"
        yield
        assert lacks_right(call(world, name))
        yield
        response = call(world, name)
        assert response.status_code == (404 if unknown else 200), response.text

    return scenario


# Lists and watches


def start(*kinds: str) -> Scenario:
    """A facade that starts waits for these kinds, and is not ready."""

    def scenario(installation: Installation) -> Iterator[None]:
        yield
        with installation.starting_facade() as facade:

            def waits() -> bool:
                said = facade.http.get("/readyz")
                return said.status_code == 503 and set(said.json()["waitingFor"]) == {*kinds}

            wait(f"it waits for {kinds}", waits)
            installation.wait_refused(2)
            yield
            wait("it is ready", lambda: facade.http.get("/readyz").is_success)

    return scenario


def late(plural: str) -> Scenario:
    """What kubectl has changed is not shown, and what it has changed after that is."""

    def scenario(installation: Installation) -> Iterator[None]:
        world = world_of(installation)
        kind, id_ = KINDS[plural]

        def shown() -> bool:
            return "by-kubectl" in call(world, f"Get{kind}").text

        yield
        installation.break_watches()
        change = {"spec": {"metadata": "by-kubectl"}}
        installation.resources.patch(plural, world.ids[id_], change)
        see_another_change(installation, world, "projects" if plural == "collections" else "collections")
        assert not shown()
        yield
        wait("it is shown", shown)

    return scenario


def see_another_change(
    installation: Installation, world: OperationWorld, plural: str = "collections"
) -> None:
    """Waits until the facade shows what happens from now on to an object of a kind."""
    kind, id_ = KINDS[plural]
    installation.resources.patch(plural, world.ids[id_], {"spec": {"metadata": "later"}})
    wait("what comes later is shown", lambda: "later" in call(world, f"Get{kind}").text)


def late_deletion(installation: Installation) -> Iterator[None]:
    """A guest code that was deleted, as by another replica, goes on."""
    world = world_of(installation)

    def leads_in() -> bool:
        return call(world, "GetGuestCode").status_code == 200

    assert leads_in()
    yield
    installation.break_watches()
    (code,) = installation.listed(SECRETS, labelSelector=f"{GUEST_CODE_LABEL}={world.show.id}")
    installation.delete(f"{SECRETS}/{code['metadata']['name']}")
    see_another_change(installation, world)
    assert leads_in()
    yield
    wait("the code is gone", lambda: not leads_in())


def late_api_key(installation: Installation) -> Iterator[None]:
    """An API key that was made just now admits nobody."""
    world = world_of(installation)
    yield
    installation.break_watches()
    headers = {"X-API-Key": installation.resources.add_api_key(installation.name("late"))}

    def admits() -> bool:
        return installation.facade.http.post(TOKEN, headers=headers, json=ANNA).status_code == 200

    see_another_change(installation, world)
    assert not admits()
    yield
    wait("the key admits", admits)


def late_addresses(installation: Installation) -> Iterator[None]:
    """Sources are shown with addresses of before."""
    installation.stop_operator()
    world = world_of(installation)
    path = f"{CONFIG_MAPS}/{ADDRESSES_CONFIG_MAP}"

    def lead_to(name: str) -> None:
        endpoint = {"protocol": "srt", "region": "", "baseUrl": f"srt://{name}.example:8890"}
        data = {ADDRESSES_KEY: json.dumps({"endpoints": [endpoint], "missing": ""})}
        if installation.exists(path):
            installation.patch(path, data=data)
        else:
            installation.create(CONFIG_MAPS, metadata={"name": ADDRESSES_CONFIG_MAP}, data=data)

    def leads_to(name: str) -> bool:
        return name in call(world, "GetSource").text

    lead_to("before")
    wait("the address is shown", lambda: leads_to("before"))
    yield
    installation.break_watches()
    lead_to("after")
    see_another_change(installation, world)
    assert leads_to("before")
    yield
    wait("the other address is shown", lambda: leads_to("after"))


# What is read or written when it is needed


def snapshot(installation: Installation) -> Iterator[None]:
    """No encoder is asked for a picture."""
    installation.stop_operator()  # it would say that there is no such encoder
    host = installation.host()
    show, resources = host.project(), installation.resources
    broadcast = {"id": "a", "epoch": 1, "phase": "Running", "pod": f"{show.id}-a-1", "encoder": "0"}
    resources.patch("projects", show.id, {"spec": {"broadcast": {"state": "Running", "id": "a"}}})
    resources.set_broadcast(show.id, broadcast)

    def asked() -> httpx.Response:
        return host.call("GET", f"{show.path}/broadcast/snapshot")

    wait("the encoder is asked", lambda: asked().status_code not in (200, LATER))
    yield
    assert lacks_right(asked())
    yield
    assert asked().status_code == 503  # there is no such pod


def first_signing_key(installation: Installation) -> Iterator[None]:
    """A new installation has no key to sign tokens with, and is not ready, though it has that of pages."""
    installation.operate()
    headers = {"X-API-Key": installation.resources.add_api_key(installation.name("studio"))}
    path = secrets_of(installation.keys)
    for each in installation.listed(path, fieldSelector=f"type={SIGNING_KEY_TYPE}"):
        installation.delete(f"{path}/{each['metadata']['name']}")
    yield
    with installation.starting_facade() as facade:
        wait("it has listed all", lambda: facade.http.get("/readyz").json()["waitingFor"] == [])
        installation.wait_refused()
        assert says(facade.http.get("/readyz"), 503, '"ready":false')
        assert says(facade.http.post(TOKEN, headers=headers, json=ANNA), 503, "no signing key")
        yield
        assert installation.token(facade, headers)
        assert facade.http.get("/readyz").is_success


def token_of_an_unknown_api_key(installation: Installation) -> Iterator[None]:
    """A replica that has never seen a token's API key does not find out that it was deleted."""
    service = installation.name("gone")
    headers = {"X-API-Key": installation.resources.add_api_key(service)}
    token = installation.token(installation.facade, headers)
    installation.resources.delete_api_key(service)
    with installation.starting_facade() as facade:
        wait("it is ready", lambda: facade.http.get("/readyz").is_success)
        user = User(facade, token)
        yield
        assert lacks_right(user.call("GET", "/collection"))
        yield
        assert user.call("GET", "/collection").status_code == 401


def hls_preview(installation: Installation) -> Iterator[None]:
    """No address of a source's preview can be made."""
    data = {INGEST_SECRET_KEY: "0" * 64}
    installation.secret(secrets_of(NAMESPACE), INGEST_SECRET, **data)
    world = world_of(installation)
    with pytest.MonkeyPatch.context() as quick, installation.starting_facade() as facade:
        quick.setattr(ingest_secret, "RETRY_S", 0.05)
        wait("it is ready", lambda: facade.http.get("/readyz").is_success)
        world.host = User(facade, world.host.token)
        yield
        assert says(call(world, "GetSourceHlsPreview"), 503, "secret of ingest cannot be read")
        yield
        wait("there is one", lambda: call(world, "GetSourceHlsPreview").is_success)


def joining(secret: str) -> Scenario:
    """No token of a room can be looked at."""

    def scenario(installation: Installation) -> Iterator[None]:
        installation.secret(secrets_of(NAMESPACE), secret, apiKey="key", apiSecret="s" * 32)
        with installation.starting_facade() as facade:

            def joined() -> httpx.Response:
                return facade.http.get("/webrtc/v2/rtc/validate", params={"access_token": "of-a-room"})

            yield
            assert says(joined(), 503, f"the Secret {secret}")
            yield
            assert says(joined(), 401, "cannot be verified")

    return scenario
