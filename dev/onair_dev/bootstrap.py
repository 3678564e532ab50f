"""`python3 -m onair_dev.bootstrap COMMAND`: prepares a machine for a command, with nothing but Python.

COMMAND is `demo` or `test` for their programs, or `venv` for only the Python packages.
"""

import os
import sys


def main() -> None:
    """Finds or installs what a command needs, before anything long starts."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older Python can parse only this file
        sys.exit("  why   Python 3.11 or newer is needed\n  try   make PYTHON=/path/to/python3")
    # Not at the top: an older Python cannot parse these modules and would print a traceback.
    from onair_dev import preflight, required_programs, venv
    from onair_dev.exclusive import exclusive
    from onair_dev.failures import exit_on_failure, interrupt_when_ended

    command = sys.argv[1]
    os.environ.update(required_programs.trust())

    def say(doing: str) -> None:
        print(f"      {doing}", file=sys.stderr, flush=True)

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
