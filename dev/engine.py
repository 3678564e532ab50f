"""The container engine: found, or installed and started on a Debian machine where we are root."""

import os
import shutil
from pathlib import Path

from progress import Failed, Step, output_of, run_logged
from settings import KIND_NODE, KIND_NODE_OUT

INFO = ["docker", "info", "--format", "{{.ServerVersion}}"]


def ensure_engine(current: Step) -> str:
    """Returns the version of an engine that answers; starts it when it does not."""
    if version := output_of(INFO).strip():
        return version
    if not is_debian_root():
        what = (
            "start Docker" if shutil.which("docker") else "install Docker, or an engine with its command line"
        )
        raise Failed("no container engine answers to `docker info`", what)
    run_logged(
        current,
        "starting the container engine",
        "engine",
        [KIND_NODE / "host"],
        env={"KIND_NODE_OUT": str(KIND_NODE_OUT)},
        try_=f"look into {KIND_NODE_OUT}/dockerd.log",
    )
    if version := output_of(INFO).strip():
        return version
    raise Failed("the container engine was started and does not answer", f"see {KIND_NODE_OUT}/dockerd.log")


def is_debian_root() -> bool:
    """Whether packages can be installed here."""
    return Path("/etc/debian_version").exists() and os.geteuid() == 0
