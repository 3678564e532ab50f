"""Prints the variables with which a shell uses the local environment: `eval "$(make env)"`."""

import base64
import os
import shlex

from onair_dev import required_programs as programs
from onair_dev.cluster.nodes import kubectl
from onair_dev.failures import Failed
from onair_dev.settings import KUBECONFIG, NAMESPACE, url

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


def export() -> None:
    """Prints the variables for a shell to evaluate."""
    folders = [str(folder) for folder in programs.own_folders()]
    print(f"export PATH={shlex.quote(os.pathsep.join(folders))}:$PATH")
    for name, value in variables().items():
        print(f"export {name}={shlex.quote(value)}")
