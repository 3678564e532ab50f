"""Installs the Helm chart in the local cluster, if the chart, its values or an image have changed."""

import hashlib
import json
import time
import urllib.error
from collections.abc import Callable, Sequence

from onair_dev.cluster import local_http, registry
from onair_dev.cluster.images import ROOMS, ROOMS_INSTALLED, Image, all_images, files_of
from onair_dev.cluster.nodes import ENV, kubectl, pods_ready
from onair_dev.console_progress import Step
from onair_dev.failures import Failed
from onair_dev.settings import LOGS, NAMESPACE, NODE_PORTS, RELEASE, ROOT, UDP_NODE_PORTS, url
from onair_dev.subprocesses import output_of, pause
from onair_dev.tools.cluster_tools import program

CHART = ROOT / "charts/onair"
VALUES = ROOT / "dev/values.yaml"
RECEIVER_API = ROOT / "dev/receiver-api.yaml"
READY_TIMEOUT_S = 180
RESPONSE_TIMEOUT_S = 30


def settings_for(images: list[Image]) -> list[str]:
    """Returns the options of helm that set our images, and where this machine reaches ingest."""
    options = ["--set-string", f"ingest.rtmp.baseUrl=rtmp://localhost:{NODE_PORTS[30936]}/live"]
    options += ["--set-string", f"ingest.srt.baseUrl=srt://localhost:{UDP_NODE_PORTS[30890]}"]
    for image in images:
        repository, _, tag = registry.reference_for_pods(image).rpartition(":")
        options += ["--set-string", f"images.{image.name}.repository={repository}"]
        options += ["--set-string", f"images.{image.name}.tag={tag}"]
    if all(image.name != ROOMS for image in images):
        options += ["--set", "rooms.enabled=false"]
    return options


def fingerprint(images: list[Image]) -> str:
    """Hashes the files of the chart, its values and its images."""
    digest = hashlib.sha256(" ".join(settings_for(images)).encode())
    for file in files_of(["charts/onair", "dev/values.yaml"]):
        digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def release() -> dict[str, str]:
    """Returns helm's record of the release: `status`, and the fingerprint by `install` as `description`."""
    status = output_of([program("helm"), "status", RELEASE, "-n", NAMESPACE, "-o", "json"], env=ENV).strip()
    info: dict[str, str] = json.loads(status)["info"] if status else {}
    return info


def unlock(current: Step) -> None:
    """Deletes the record of an interrupted upgrade, with which helm rejects every later one."""
    if release().get("status", "").startswith("pending"):
        current.doing = "removing an interrupted upgrade"
        selector = f"owner=helm,name={RELEASE},status in (pending-install,pending-upgrade,pending-rollback)"
        kubectl("delete", "secret", "-n", NAMESPACE, "-l", selector)


def install(current: Step, images: list[Image], description: str) -> None:
    """Applies the CRDs of the chart's folder `crds`, which helm never updates, and the chart."""
    unlock(current)
    if (CHART / "crds").is_dir():
        apply = [program("kubectl"), "apply", "--server-side", "--force-conflicts", "-f", str(CHART / "crds")]
        current.run("applying the CRDs", "crds", apply, env=ENV)
    command = [
        program("helm"),
        "upgrade",
        "--install",
        RELEASE,
        str(CHART),
        "-n",
        NAMESPACE,
        "--create-namespace",
    ]
    options = ["-f", str(VALUES), *settings_for(images), "--description", description]
    try:
        current.run(
            "installing the chart",
            "chart",
            [*command, *options, "--wait", "--timeout", f"{READY_TIMEOUT_S}s"],
            env=ENV,
            remedy=f"kubectl get pods -n {NAMESPACE}; build/logs/pods.log has their state and events",
        )
    except Failed:
        report_pods()
        raise


def open_receiver_api(current: Step) -> None:
    """Makes the API of the test receiver reachable from this machine, which no Service of the chart does."""
    apply = [program("kubectl"), "apply", "-n", NAMESPACE, "-f", str(RECEIVER_API)]
    current.run("opening the API of the test receiver to tests", "receiver-api", apply, env=ENV)


def report_pods() -> None:
    """Writes the state and logs of pods that do not become ready into build/logs/pods.log."""
    parts = [
        kubectl("get", "pods", "-A", "-o", "wide"),
        kubectl("describe", "pods", "-n", NAMESPACE, timeout_s=30),
        kubectl(
            "logs", "-n", NAMESPACE, "--tail=50", "--prefix", "-l", f"app.kubernetes.io/instance={RELEASE}"
        ),
    ]
    (LOGS / "pods.log").write_text("\n\n".join(parts))


def wait_ready(current: Step) -> int:
    """Waits until every pod is ready; returns how many there are."""
    current.doing = "waiting for the pods"
    deadline = time.monotonic() + READY_TIMEOUT_S
    while not (count := pods_ready(NAMESPACE)):
        if time.monotonic() > deadline:
            report_pods()
            raise Failed(f"pods of {NAMESPACE} do not become ready", "see build/logs/pods.log")
        pause(0.5)
    return count


def wait_for_response(current: Step) -> None:
    """Waits until the HTTP API is reachable from this machine."""
    current.doing = f"waiting for {url()}"
    deadline = time.monotonic() + RESPONSE_TIMEOUT_S
    while not responds():
        if time.monotonic() > deadline:
            raise Failed(
                f"no response from {url()}", "the port may be in use: choose another with ONAIR_API_PORT"
            )
        pause(0.2)


def responds() -> bool:
    """Whether an HTTP server responds, with any status."""
    try:
        local_http.OPENER.open(f"{url()}/healthz", timeout=2).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def chart_task(names: Sequence[str]) -> Callable[[Step], None]:
    """Returns a task that installs the chart with these images if needed, and waits until it is ready."""

    def run(current: Step) -> None:
        if not (CHART / "Chart.yaml").exists():
            raise Failed("charts/onair/Chart.yaml is missing", "get a whole checkout")
        images = all_images(names)
        wanted = fingerprint(images)
        known = release()
        if known.get("status") == "deployed" and known.get("description") == wanted:
            current.outcome = "unchanged"
        else:
            install(current, images, wanted)
        if ROOMS in names:
            ROOMS_INSTALLED.touch()
        open_receiver_api(current)
        pods = wait_ready(current)
        wait_for_response(current)
        current.detail = f"onair installed, {pods} pods ready{'' if ROOMS in names else ', no rooms'}"

    return run
