"""Prints the variables with which a shell uses the local environment: `eval "$(make env)"`."""

import base64
import os
import shlex
from pathlib import Path

from onair_dev import required_programs as programs
from onair_dev.cluster.nodes import kubectl
from onair_dev.failures import Failed
from onair_dev.settings import KUBECONFIG, NAMESPACE, NODE_PORTS, url
from onair_dev.tools.cluster_tools import CLIENTS

SECRET, RECEIVER = "onair-demo-api-key", "onair-mediamtx"


def variables() -> dict[str, str]:
    """Returns the URL of the API, an API key, users of the test receiver, and the path of the kubeconfig."""
    return {
        "ONAIR_URL": url(),
        "ONAIR_API_KEY": secret_value(SECRET, "apiKey"),
        "ONAIR_READER": f"reader:{secret_value(RECEIVER, 'readPassword')}",
        "ONAIR_RECEIVER_API": f"api:{secret_value(RECEIVER, 'apiPassword')}",
        "KUBECONFIG": str(KUBECONFIG),
    }


def secret_value(secret: str, key: str) -> str:
    """Returns a value of a Secret of the release's namespace.

    Raises:
        Failed: there is none.
    """
    encoded = kubectl("get", "secret", secret, "-n", NAMESPACE, "-o", f"jsonpath={{.data.{key}}}").strip()
    if not encoded:
        raise Failed(f"Secret {secret} in {NAMESPACE} cannot be read", "run `make up`")
    return base64.b64decode(encoded).decode()


def watch_url(path: str) -> str:
    """Returns where a browser watches a stream of the test receiver."""
    return f"http://{variables()['ONAIR_READER']}@localhost:{NODE_PORTS[30888]}/{path}"


def folders() -> list[Path]:
    """Returns the folders of kind, helm and kubectl, wherever they were found, and of our other programs."""
    found = [path.parent for name in CLIENTS if (path := programs.find(name))]
    return list(dict.fromkeys([*found, *programs.own_folders()]))


def export() -> None:
    """Prints the variables for a shell to evaluate.

    Those of the cluster come first: without a release, kubectl must not find another cluster, or none.

    Raises:
        Failed: no release is installed.
    """
    print(f"export PATH={shlex.quote(os.pathsep.join(map(str, folders())))}:$PATH")
    print(f"export KUBECONFIG={shlex.quote(str(KUBECONFIG))}")
    for name, value in variables().items():
        print(f"export {name}={shlex.quote(value)}")
