"""Prints the variables with which a shell uses the local environment: `eval "$(make env)"`."""

import base64
import os
import shlex
from pathlib import Path

from onair_dev import required_programs as programs
from onair_dev.cluster.nodes import kubectl
from onair_dev.failures import Failed
from onair_dev.settings import KUBECONFIG, NAMESPACE, url
from onair_dev.tools.cluster_tools import CLIENTS

SECRET = "onair-demo-api-key"  # noqa: S105


def variables() -> dict[str, str]:
    """Returns the URL of the API, an API key, and the path of the cluster's kubeconfig."""
    encoded = kubectl("get", "secret", SECRET, "-n", NAMESPACE, "-o", "jsonpath={.data.apiKey}").strip()
    if not encoded:
        raise Failed(f"Secret {SECRET} in {NAMESPACE} cannot be read", "run `make up`")
    return {
        "ONAIR_URL": url(),
        "ONAIR_API_KEY": base64.b64decode(encoded).decode(),
        "KUBECONFIG": str(KUBECONFIG),
    }


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
