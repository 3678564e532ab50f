"""A real Kubernetes API server and etcd as processes of this machine, for tests.

Nothing runs pods here: there is no kubelet, scheduler or controller manager. Objects, CRD
validation, watches, RBAC, leases and server-side apply are the real thing. Ready in about 5 s.
"""

import contextlib
import random
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
import yaml
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.support.certificate_authority import HOST, Authority, write_private_key
from tests.support.programs import program

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
POLL_S = 0.05
LISTENING_PORTS = (20_000, 32_768)


class ControlPlaneError(RuntimeError):
    """The control plane is unavailable; the message says what to do."""


def free_port() -> int:
    """A TCP port of the loopback address that nobody listens on at this moment.

    It is below those of outgoing connections (from 32768 on, unless the machine says otherwise), so none of
    them takes it before its server starts, or starts again.
    """
    while True:
        port = random.SystemRandom().randrange(*LISTENING_PORTS)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind((HOST, port))
            return port


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = START_TIMEOUT_S) -> None:
    """Returns as soon as `condition()` holds.

    Raises:
        ControlPlaneError: it did not hold within `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise ControlPlaneError(f"{what}: not within {timeout_s:g} s")
        time.sleep(POLL_S)


class Program:
    """A child process with its output in a file. It dies with its parent where the system offers that."""

    def __init__(self, command: Sequence[str | Path], log: Path) -> None:
        self.name = Path(command[0]).name
        self.log = log
        leash = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [*leash, *map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def check(self) -> None:
        """Raises ControlPlaneError with the end of the log if the program has ended."""
        if self.process.poll() is not None:
            tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
            raise ControlPlaneError(f"{self.name} ended with {self.process.returncode}:\n{tail}")

    def stop(self) -> None:
        """Asks the program to end, and makes it end after a few seconds."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class ControlPlane:
    """etcd and kube-apiserver on free ports of the loopback address, with RBAC on.

    `kubeconfig` and `client()` act as an administrator (group system:masters);
    `kubeconfig_for()` makes one for somebody who may only do what RBAC grants.
    """

    def __init__(self) -> None:
        self._etcd_binary = program("etcd")
        self._apiserver_binary = program("kube-apiserver")
        self.folder = Path(tempfile.mkdtemp(prefix="onair-control-plane-"))
        self._authority = Authority(self.folder)
        self._serving = self._authority.issue("apiserver", "kube-apiserver")
        self._admin = self._authority.issue("admin", "admin", ["system:masters"])
        self._service_account_key = self.folder / "service-account.key"
        write_private_key(
            self._service_account_key, rsa.generate_private_key(public_exponent=65537, key_size=2048)
        )
        self._port = free_port()
        self._etcd: Program | None = None
        self._apiserver: Program | None = None
        self.url = f"https://{HOST}:{self._port}"
        self.kubeconfig = self._write_kubeconfig("admin", self._admin)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Starts both programs and returns when the API server is ready."""
        try:
            self._start_etcd()
            self.start_apiserver()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends both programs and removes their data."""
        self.stop_apiserver()
        if self._etcd:
            self._etcd.stop()
            self._etcd = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def restart_apiserver(self) -> None:
        """The API server goes away and comes back with the same address and data."""
        self.stop_apiserver()
        self.start_apiserver()

    def stop_apiserver(self) -> None:
        """Cuts every watch and request, as a crash does: clients get no notice."""
        if self._apiserver:
            self._apiserver.process.kill()
            self._apiserver.process.wait()
            self._apiserver = None

    def start_apiserver(self) -> None:
        """Starts the API server and waits until it is ready."""
        certificate, key = self._serving
        self._apiserver = Program(
            [
                self._apiserver_binary,
                f"--etcd-servers={self._etcd_url}",
                f"--bind-address={HOST}",
                f"--advertise-address={HOST}",
                f"--secure-port={self._port}",
                "--endpoint-reconciler-type=none",
                f"--cert-dir={self.folder}",
                f"--client-ca-file={self._authority.certificate}",
                f"--tls-cert-file={certificate}",
                f"--tls-private-key-file={key}",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={self._service_account_key}",
                f"--service-account-signing-key-file={self._service_account_key}",
                "--service-cluster-ip-range=10.96.0.0/16",
                "--authorization-mode=RBAC",
                "--disable-admission-plugins=ServiceAccount",
                "--allow-privileged=true",
                "--profiling=false",
            ],
            self.folder / "kube-apiserver.log",
        )
        with self.client() as client:
            wait_until(lambda: self._is_ready(client), "kube-apiserver ready")

    def client(self) -> httpx.Client:
        """An HTTP client with the administrator's certificate; paths are relative to `url`."""
        context = ssl.create_default_context(cafile=str(self._authority.certificate))
        context.load_cert_chain(*self._admin)
        return httpx.Client(base_url=self.url, verify=context, trust_env=False, timeout=30)

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig of a user who has no rights but those that RBAC gives to the name or a group.

        A service account is `system:serviceaccount:<namespace>:<name>`.
        """
        file_name = user.replace(":", "-")
        return self._write_kubeconfig(file_name, self._authority.issue(file_name, user, groups))

    def _start_etcd(self) -> None:
        client_url, peer_url = (f"http://{HOST}:{free_port()}" for _ in range(2))
        self._etcd_url = client_url
        self._etcd = Program(
            [
                self._etcd_binary,
                f"--data-dir={self.folder / 'etcd'}",
                f"--listen-client-urls={client_url}",
                f"--advertise-client-urls={client_url}",
                f"--listen-peer-urls={peer_url}",
                f"--initial-advertise-peer-urls={peer_url}",
                f"--initial-cluster=default={peer_url}",
                "--unsafe-no-fsync",
                "--log-level=warn",
            ],
            self.folder / "etcd.log",
        )
        etcd = self._etcd
        with httpx.Client(trust_env=False) as client:
            wait_until(lambda: answers(client, f"{client_url}/health", etcd), "etcd healthy")

    def _is_ready(self, client: httpx.Client) -> bool:
        if self._apiserver is None:
            raise ControlPlaneError("kube-apiserver was stopped while it started")
        return answers(client, "/readyz", self._apiserver) and bool(
            client.get("/api/v1/namespaces/default").is_success
        )

    def _write_kubeconfig(self, name: str, credentials: tuple[Path, Path]) -> Path:
        certificate, key = credentials
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "onair-test",
                    "cluster": {
                        "server": self.url,
                        "certificate-authority": str(self._authority.certificate),
                    },
                }
            ],
            "users": [
                {
                    "name": name,
                    "user": {"client-certificate": str(certificate), "client-key": str(key)},
                }
            ],
            "contexts": [{"name": name, "context": {"cluster": "onair-test", "user": name}}],
            "current-context": name,
        }
        path = self.folder / f"{name}.kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return path


def answers(client: httpx.Client, url: str, program: Program) -> bool:
    """Whether a GET succeeds at this moment; raises when the program that should answer has ended."""
    program.check()
    try:
        return client.get(url, timeout=2).is_success
    except httpx.TransportError:
        return False
