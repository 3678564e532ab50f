"""`python3 -m onair_dev.bootstrap COMMAND`: prepares a machine for a command, with nothing but Python.

COMMAND is `demo` or `test` for their programs, or `venv` for only the Python packages.
"""

import os
import sys

FIRST_RUN = {"demo": "10 to 25 minutes", "test": "15 to 30 minutes"}
"""What a command's programs and images take on two cores where they have to be built."""


def estimate(command: str, built: bool) -> str:
    """Returns the line about the first run; an empty one for commands that build nothing, or have built."""
    if built or command not in FIRST_RUN:
        return ""
    return f"the first time this takes {FIRST_RUN[command]} on two cores; later runs reuse the builds"


def main() -> None:
    """Finds or installs what a command needs, before anything long starts."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older Python can parse only this file
        sys.exit("  why   Python 3.11 or newer is needed\n  try   make PYTHON=/path/to/python3")
    # Not at the top: an older Python cannot parse these modules and would print a traceback.
    from onair_dev import preflight, required_programs, venv
    from onair_dev.exclusive import exclusive
    from onair_dev.failures import exit_on_failure, interrupt_when_ended

    command = sys.argv[1]
    first = [estimate(command, required_programs.BUILT.exists())]

    def say(doing: str) -> None:
        # Not before it is known that the run does not end for want of a program
        for line in (*filter(None, first), doing):
            print(f"      {line}", file=sys.stderr, flush=True)
        first.clear()

    os.environ.update(required_programs.trust())
    interrupt_when_ended()
    with exit_on_failure(), exclusive("bootstrap", "prepares this machine"):
        if command == "venv":
            preflight.check_platform()
            preflight.ensure_venv_module(say)
        else:
            preflight.check(command, say)
        venv.ensure(say)


if __name__ == "__main__":
    main()
