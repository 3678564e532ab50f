"""`python -m onair_dev COMMAND`: called by `make` after `onair_dev.bootstrap` has prepared the machine."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from onair_dev import plans
from onair_dev import required_programs as programs
from onair_dev.console_progress import Progress
from onair_dev.exclusive import exclusive
from onair_dev.failures import exit_on_failure, interrupt_when_ended
from onair_dev.graph import run_all
from onair_dev.settings import ports, url
from onair_dev.tools import cluster_tools

PARTS = {
    "up": "the local cluster",
    "images": "our images",
    "refresh": "our images with the newest packages",
    "tools": "programs for the cluster and for tests",
}


def main() -> None:
    """Runs the command that the command line names."""
    parser = argparse.ArgumentParser(prog="onair_dev", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in PARTS.items():
        commands.add_parser(name, help=f"build {what}, as far as missing")
    prepare = commands.add_parser("prepare", help="build the dependencies of a part of the tests")
    prepare.add_argument("part", choices=["demo", "test", "integration", "soak", "bench"])
    demo = commands.add_parser("demo")
    demo.add_argument("--keep", action="store_true", help="leave the show on the air")
    demo.add_argument("--scene", action="store_true", help="a scene of three layouts with a pushed camera")
    run = commands.add_parser("run", help="run a command with our programs and the cluster's variables")
    run.add_argument("--cluster", action="store_true", help="add the variables of the local cluster")
    run.add_argument("words", nargs=argparse.REMAINDER)
    for name in ("env", "down", "clean", "picture", "sbom", "scan"):
        commands.add_parser(name)
    commands.add_parser("chart").add_argument("--check", action="store_true")
    protos = commands.add_parser("protos")
    protos.add_argument("--check", action="store_true")
    protos.add_argument("--release", action="store_true", help="compare later changes with the present files")
    lock = commands.add_parser("lock")
    lock.add_argument("--upgrade", action="store_true")
    lock.add_argument("--check", action="store_true")
    compare = commands.add_parser("compare", help="a table of two files of bench results")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    options = parser.parse_args()
    os.environ.update(programs.environment())
    os.environ.update({name: str(port) for name, port in ports().items()})
    interrupt_when_ended()
    with exit_on_failure():
        perform(options)


def perform(options: argparse.Namespace) -> None:
    """Runs one command. Modules are imported on demand, as most commands need few."""
    match options.command:
        case "up" | "images" | "refresh" | "tools":
            build(options.command)
            if options.command == "up":
                print(f'api docs {url()}/docs     shell  eval "$(make env)"     next  make demo')
        case "prepare":
            build(options.part)
        case "demo":
            from onair_dev import cpu_group, demo, scene_demo

            cpu_group.join()
            (scene_demo if options.scene else demo).demo(keep=options.keep)
        case "run":
            become(options.words, in_cluster=options.cluster)
        case "env":
            from onair_dev.cluster.environment import export

            export()
        case "down" | "clean":
            from onair_dev.cluster import kind

            with only_one(), Progress() as progress, progress.step(options.command) as current:
                (kind.down if options.command == "down" else kind.clean)(current)
        case "picture":
            from onair_dev.docs.dashboard_picture import draw

            draw()
        case "chart":
            from onair_dev.docs import chart_reference

            sys.exit(chart_reference.check() if options.check else chart_reference.write())
        case "protos":
            from onair_dev.docs import protos

            done = protos.check if options.check else protos.release if options.release else protos.write
            sys.exit(done())
        case "sbom" | "scan":
            from onair_dev.supply_chain import report

            sys.exit(report.bills() if options.command == "sbom" else report.scan())
        case "compare":
            from onair_dev.bench_results import compare

            print(compare(options.before, options.after))
        case "lock":
            from onair_dev import lock

            sys.exit(lock.check() if options.check else lock.lock_all(upgrade=options.upgrade))


def only_one() -> AbstractContextManager[None]:
    """Lets one command at a time build or delete what all clusters share: programs, images, the registry."""
    return exclusive("onair", "builds or deletes a cluster or images")


def build(what: str) -> None:
    """Runs the tasks of one command."""
    with only_one():
        if plans.builds_cluster_tools(what):
            cluster_tools.discard_stale()
        known = plans.facts()
        tasks = plans.of(what, known)
        if any(task.name == "cluster" for task in tasks):
            from onair_dev.cluster import kind

            # Before images are built, which may take long
            kind.check_ours()
        of = len(tasks) + 2 if what == "demo" else len(tasks)
        run_all(f"make {what}", tasks, of)


def become(command: list[str], *, in_cluster: bool) -> None:
    """Replaces this process by a command.

    Args:
        in_cluster: with the variables of the local cluster.
    """
    if in_cluster:
        from onair_dev.cluster.environment import variables

        os.environ.update(variables())
    os.execvp(command[0], command)  # noqa: S606 - a command of the Makefile


if __name__ == "__main__":
    main()
