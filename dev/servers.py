"""The servers that tests deliver to, as programs: those of this machine, or built from their modules."""

import shutil
from pathlib import Path

from progress import Failed, Step, last_words, run_logged, step
from settings import CACHE, ROOT

MODULES = ROOT / "images/servers"
PACKAGES = {
    "livekit-server": "github.com/livekit/livekit-server/cmd/server",
    "toxiproxy-server": "github.com/Shopify/toxiproxy/v2/cmd/server",
    "versitygw": "github.com/versity/versitygw/cmd/versitygw",
}
BUILT = CACHE / "servers"


def version_of(name: str) -> str:
    """As its module pins it."""
    module = PACKAGES[name].partition("/cmd/")[0]
    for line in (MODULES / name / "go.mod").read_text().splitlines():
        words = line.split()
        if module in words:
            return words[words.index(module) + 1]
    raise Failed(f"images/servers/{name}/go.mod does not name {module}")


def ensure(current: Step, name: str) -> Path:
    """The program; built when it is not in the cache.

    Raises:
        Failed: it is not there, and there is no Go to build it with.
    """
    program = BUILT / version_of(name) / name
    if program.exists():
        return program
    if not shutil.which("go"):
        raise Failed(f"{name} is built with Go, which was not found", "install Go")
    program.parent.mkdir(parents=True, exist_ok=True)
    draft = program.with_suffix(".new")
    build = ["go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", draft, PACKAGES[name]]
    run_logged(
        current,
        f"building {name} (a minute or two)",
        name,
        ["env", "-C", MODULES / name, "CGO_ENABLED=0", *build],
        try_="read the log; a build goes on where it stopped",
    )
    draft.rename(program)
    return program


def servers_step(label: str) -> None:
    with step(label, "servers") as current:
        for name in PACKAGES:
            ensure(current, name)
        current.detail = " · ".join(f"{name} {version_of(name).lstrip('v')}" for name in PACKAGES)


if __name__ == "__main__":
    with last_words():
        servers_step("[1/1]")
