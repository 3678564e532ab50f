"""A real Kubernetes API server and etcd as processes of this machine, for tests.

No pods run here: there is no kubelet, scheduler or controller manager. Objects, CRD validation, watches,
RBAC, leases and server-side apply are real. Ready in about 5 s.
"""

import base64
import contextlib
import json
import os
import random
import shutil
import socket
import ssl
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
import yaml
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.support.certificate_authority import HOST, CertificateAuthority, write_private_key
from tests.support.child_process import QUICK_GO, START_TIMEOUT_S, ChildProcess, ServerError
from tests.support.plain_http import NO_TLS
from tests.support.programs import program
from tests.support.waiting import wait_for

from onair_crds.shapes import Document

LISTENING_PORTS = range(20_000, 32_768)
SLICES = 8
_given: deque[int] = deque(maxlen=500)


def free_port() -> int:
    """Returns a TCP port of the loopback address that is free at the moment.

    It is below the ports of outgoing connections (from 32768 on, unless configured otherwise), so none of
    those takes it before its server starts or restarts; and in a part of these ports that no other process of
    tests takes any of, nor is one given twice soon.
    """
    mine = LISTENING_PORTS[_process_number() % SLICES :: SLICES]
    while True:
        port = random.SystemRandom().choice(mine)
        if port in _given:
            continue
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind((HOST, port))
            _given.append(port)
            return port


def _process_number() -> int:
    """Of this process among those that run tests side by side."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


class ControlPlane:
    """etcd and kube-apiserver on free ports of the loopback address, with RBAC on.

    `kubeconfig` and `client()` act as an administrator (group system:masters);
    `kubeconfig_for()` makes one for a user with only the rights that RBAC grants.
    """

    def __init__(self, audited: Sequence[str] = ()) -> None:
        """
        Args:
            audited: users whose requests are in `audit_log`, an audit event a line.
        """
        self._etcd_binary = program("etcd")
        self._apiserver_binary = program("kube-apiserver")
        self.folder = Path(tempfile.mkdtemp(prefix="onair-control-plane-"))
        self._authority = CertificateAuthority(self.folder)
        self._serving = self._authority.issue("apiserver", "kube-apiserver")
        self._admin = self._authority.issue("admin", "admin", ["system:masters"])
        self._service_account_key = self.folder / "service-account.key"
        write_private_key(
            self._service_account_key, rsa.generate_private_key(public_exponent=65537, key_size=2048)
        )
        self._data, self._backup = self.folder / "etcd", self.folder / "etcd-backup"
        self.audit_log = self.folder / "audit.log"
        self._audit = self._audit_options(audited)
        self._port = free_port()
        self._etcd_url, self._etcd_peer_url = (f"http://{HOST}:{free_port()}" for _ in range(2))
        self._etcd: ChildProcess | None = None
        self._apiserver: ChildProcess | None = None
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
        """Starts both programs and waits until the API server is ready."""
        try:
            self._start_etcd()
            self.start_apiserver()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stops both programs and removes their data."""
        self._stop_programs()
        shutil.rmtree(self.folder, ignore_errors=True)

    def back_up(self) -> None:
        """Keeps the data as it is now; both programs are stopped for it and started again."""
        self._stop_programs()
        shutil.copytree(self._data, self._backup)
        self.start()

    def restore(self) -> None:
        """Starts both programs anew with the data that was backed up."""
        self._stop_programs()
        shutil.rmtree(self._data)
        shutil.move(self._backup, self._data)
        self.start()

    def _stop_programs(self) -> None:
        self.stop_apiserver()
        if self._etcd:
            self._etcd.stop()
            self._etcd = None

    def stop_apiserver(self) -> None:
        """Kills the API server: every watch and request breaks, as in a crash."""
        if self._apiserver:
            self._apiserver.process.kill()
            self._apiserver.process.wait()
            self._apiserver = None

    def start_apiserver(self) -> None:
        """Starts the API server and waits until it is ready."""
        certificate, key = self._serving
        self._apiserver = ChildProcess(
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
                *self._audit,
            ],
            self.folder / "kube-apiserver.log",
            QUICK_GO,
        )
        with self.client() as client:
            wait_for(lambda: self._is_ready(client), "kube-apiserver ready", START_TIMEOUT_S)

    @property
    def serving(self) -> bool:
        """Whether there is an API server: it was started and not stopped since."""
        return self._apiserver is not None

    @property
    def ca_certificate(self) -> bytes:
        return self._authority.certificate.read_bytes()

    def client(self) -> httpx.Client:
        """Returns an HTTP client with the administrator's certificate; paths are relative to `url`."""
        context = ssl.create_default_context(cafile=str(self._authority.certificate))
        context.load_cert_chain(*self._admin)
        return httpx.Client(base_url=self.url, verify=context, trust_env=False, timeout=30)

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """Writes the kubeconfig of a user with only the rights that RBAC grants to the name or a group.

        The user of a service account is `system:serviceaccount:<namespace>:<name>`.
        """
        file_name = user.replace(":", "-")
        return self._write_kubeconfig(file_name, self._authority.issue(file_name, user, groups))

    def store(self, key: str, change: Callable[[Document], object]) -> None:
        """Changes what is stored of a custom resource behind the API server's back, whatever its rules say.

        Args:
            key: group, plural, namespace and name, as `onair.dev/projects/shows/sunday`.
        """
        encoded = base64.b64encode(f"/registry/{key}".encode()).decode()
        with httpx.Client(base_url=self._etcd_url, trust_env=False, verify=NO_TLS) as etcd:
            found = etcd.post("/v3/kv/range", json={"key": encoded}).raise_for_status().json()
            stored = json.loads(base64.b64decode(found["kvs"][0]["value"]))
            change(stored)
            value = base64.b64encode(json.dumps(stored).encode()).decode()
            etcd.post("/v3/kv/put", json={"key": encoded, "value": value}).raise_for_status()

    def _start_etcd(self) -> None:
        client_url, peer_url = self._etcd_url, self._etcd_peer_url
        self._etcd = ChildProcess(
            [
                self._etcd_binary,
                f"--data-dir={self._data}",
                f"--listen-client-urls={client_url}",
                f"--advertise-client-urls={client_url}",
                f"--listen-peer-urls={peer_url}",
                f"--initial-advertise-peer-urls={peer_url}",
                f"--initial-cluster=default={peer_url}",
                "--unsafe-no-fsync",
                "--log-level=warn",
            ],
            self.folder / "etcd.log",
            QUICK_GO,
        )
        etcd = self._etcd
        with httpx.Client(trust_env=False, verify=NO_TLS) as client:
            wait_for(lambda: responds(client, f"{client_url}/health", etcd), "etcd healthy", START_TIMEOUT_S)

    def _audit_options(self, users: Sequence[str]) -> list[str]:
        if not users:
            return []
        policy = {
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            "omitStages": ["RequestReceived"],
            "rules": [{"level": "Metadata", "users": [*users]}, {"level": "None"}],
        }
        file = self.folder / "audit-policy.yaml"
        file.write_text(yaml.safe_dump(policy))
        return [f"--audit-policy-file={file}", f"--audit-log-path={self.audit_log}"]

    def _is_ready(self, client: httpx.Client) -> bool:
        if self._apiserver is None:
            raise ServerError("kube-apiserver was stopped during its start")
        return responds(client, "/readyz", self._apiserver) and bool(
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


def responds(client: httpx.Client, url: str, process: ChildProcess) -> bool:
    """Whether a GET succeeds.

    Raises:
        ServerError: the process that serves it has ended.
    """
    process.check()
    try:
        return client.get(url, timeout=2).is_success
    except httpx.TransportError:
        return False
