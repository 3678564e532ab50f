"""An installation with the chart's rights, whose programs run while one of these is away."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import yaml
from tests.support.api_server_proxy import Proxy
from tests.support.control_plane import ControlPlane, free_port
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.helm import KEYS, NAMESPACE, SHOWS, named, render
from tests.support.operator_thread import OperatorThread
from tests.support.rights.audit_log import AuditLog, Request
from tests.support.rights.granted import Right, roles_of
from tests.support.rights.installed_rights import InstalledRights
from tests.support.rights.objects import POLL_S, SERVICES, Objects
from tests.support.waiting import wait_for

from onair_api.settings import CacheSettings, GatewaySettings, IngestSettings, RoomSettings
from onair_crds.shapes import Document
from onair_operator.cluster.watched_kinds import WATCHED
from onair_operator.settings import LeaderElectionSettings, OperatorSettings

OPERATOR, API = (f"system:serviceaccount:{NAMESPACE}:onair-{each}" for each in ("operator", "api"))
NOWHERE = "http://127.0.0.1:9"
TOKEN = "/live/v2/authentication/token"
NEVER_S = 86_400
"""A list of everything would bring what a watch that is refused is late to bring."""
APPLY = {"Content-Type": "application/apply-patch+yaml"}


class Installation(Objects):
    """What a test does to an installation, and sees of it."""

    def __init__(self, plane: ControlPlane, admin: httpx.Client, folder: Path, *values: str) -> None:
        """
        Args:
            folder: for its files.
            values: those that the chart was installed with.
        """
        super().__init__(admin)
        self.plane, self.folder = plane, folder
        self.log = AuditLog(plane.audit_log)
        self._absent: list[tuple[Right, dt.datetime]] = []
        self._of_facade, self._of_operator, self._of_all = ExitStack(), ExitStack(), ExitStack()
        self._facade: FacadeThread | None = None
        self._operator: OperatorThread | None = None
        address = urlsplit(plane.url)
        self._proxy = self._of_all.enter_context(Proxy((address.hostname or "", address.port or 0)))
        self._set(values, KEYS, RoomSettings(url=NOWHERE))

    def use(self, *values: str, keys: str = KEYS, rooms: RoomSettings | None = None) -> None:
        """Gives it what other values bring to the rights of its programs, which begin anew when needed."""
        self.end()
        before = self._roles
        self._set(values, keys, rooms or RoomSettings(url=NOWHERE))
        for path in before.keys() - self._roles.keys():
            self.delete(path)
        by_test = {"fieldManager": "test", "force": "true"}
        for path, each in {**self._roles, **self._services}.items():
            self.admin.patch(path, params=by_test, content=json.dumps(each), headers=APPLY).raise_for_status()

    def _set(self, values: tuple[str, ...], keys: str, rooms: RoomSettings) -> None:
        objects = render(*values)
        self.keys, self._rooms, self._roles = keys, rooms, roles_of(objects)
        self.rights = InstalledRights(self.admin, self.log, SHOWS, objects)
        self.resources = StoredResources(self.admin, SHOWS, keys)
        config: Document = yaml.safe_load(
            named(objects, "ConfigMap", "onair-operator")["data"]["config.yaml"]
        )
        for each in config["ingest"]["gateways"]:
            each["url"] = NOWHERE
        self._config = config
        names = [each["name"] for each in config["ingest"]["services"]]
        self._services = {f"{SERVICES}/{name}": named(objects, "Service", name) for name in names}

    def end(self) -> None:
        """Ends its programs."""
        self.stop_operator()
        self._of_facade.close()
        self._facade = None

    def close(self) -> None:
        self.end()
        self._of_all.close()

    # Rights

    @contextmanager
    def without(self, text: str) -> Iterator[None]:
        """Takes a right away for as long as this lasts."""
        absent = right, _ = self.rights.named(text), dt.datetime.now(dt.UTC)
        with self.rights.without(right):
            self._absent.append(absent)
            try:
                yield
            finally:
                self._absent.remove(absent)

    @contextmanager
    def late_watch(self, text: str) -> Iterator[None]:
        """Has a watch bring nothing, by taking its right away."""
        with self.without(text):
            self.break_watches()
            yield

    def refusals(self) -> list[Request]:
        """Requests that were refused for want of the right that was taken last."""
        right, since = self._absent[-1]
        return [each for each in self.log.since(since) if each.refused and each.needs(right)]

    def wait_refused(self, times: int = 1) -> None:
        """Waits for so many of them."""
        right, _ = self._absent[-1]
        wait_for(lambda: len(self.refusals()) >= times, f"{right} is missed")

    def break_watches(self) -> None:
        """Cuts all connections of its programs, and waits until they miss the right that was taken last."""
        self._proxy.cut()
        self.wait_refused()

    # Programs

    @property
    def facade(self) -> FacadeThread:
        """A facade that is ready."""
        if self._facade is None:
            self._facade = self._of_facade.enter_context(self._new_facade())
        return self._facade

    @contextmanager
    def starting_facade(self) -> Iterator[FacadeThread]:
        """Another one, that responds and may not be ready."""
        facade = self._new_facade()
        facade.listen()
        try:
            yield facade
        finally:
            facade.__exit__(None, None, None)

    def _new_facade(self) -> FacadeThread:
        return FacadeThread(
            self._kubeconfig(API),
            SHOWS,
            NAMESPACE,
            keys_namespace=self.keys,
            rooms=self._rooms,
            ingest=IngestSettings(found=True, gateways=[GatewaySettings(name="onair-ingest-0", url=NOWHERE)]),
            cache=CacheSettings(backoff_initial_s=0.05, backoff_max_s=0.2),
        )

    def host(self) -> User:
        """A host with a token that was made just now."""
        headers = {"X-API-Key": self.resources.add_api_key(self.name("studio"))}
        return User(self.facade, self.token(self.facade, headers))

    def token(self, facade: FacadeThread, headers: dict[str, str]) -> str:
        """One for an API key that a facade may be yet to hear of."""

        def issued() -> httpx.Response:
            return facade.http.post(TOKEN, headers=headers, json={"serviceUserId": "anna"})

        response = wait_for(lambda: (got := issued()).is_success and got, "a token", poll_s=POLL_S)
        return str(response.json()["accessToken"])

    @property
    def operator(self) -> OperatorThread:
        """The operator that runs."""
        assert self._operator
        return self._operator

    def operate(self) -> None:
        """Has an operator run, and watch."""
        if self._operator is None:
            since = dt.datetime.now(dt.UTC)
            self.start_operator()
            wait_for(lambda: self._watched(since) == len(WATCHED), "it watches")

    def start_operator(self) -> None:
        """Begins to have one run, which may never do what it is to do."""
        election = LeaderElectionSettings(lease_duration_s=4.0, renew_interval_s=0.5)
        settings = OperatorSettings.model_validate(
            {
                **self._config,
                "healthPort": free_port(),
                "leaderElection": election,
                "resyncIntervalS": NEVER_S,
            }
        )
        operator = OperatorThread(settings, self._kubeconfig(OPERATOR))
        self._operator = self._of_operator.enter_context(operator)

    def stop_operator(self) -> None:
        self._of_operator.close()
        self._operator = None

    @property
    def sandbox_label(self) -> str:
        """Of the nodes that encoders may be on."""
        return str(self._config["encoder"]["sandbox"]["nodeLabel"])

    def _watched(self, since: dt.datetime) -> int:
        """How many kinds the operator watches since then."""
        watches = (each for each in self.log.since(since) if each.verb == "watch" and not each.refused)
        return len({each.resource for each in watches if each.user == OPERATOR})

    def _kubeconfig(self, user: str) -> Path:
        """Leads by the proxy."""
        path = self.folder / f"{user.rpartition(':')[2]}.kubeconfig"
        if not path.exists():
            config = yaml.safe_load(self.plane.kubeconfig_for(user).read_text())
            config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self._proxy.port}"
            path.write_text(yaml.safe_dump(config))
        return path
