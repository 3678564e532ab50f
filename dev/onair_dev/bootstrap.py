"""`python3 -m onair_dev.bootstrap COMMAND`: makes a machine ready for a command, with nothing but Python.

COMMAND is `demo` or `test`, for their programs, or `venv` for the Python packages alone.
"""

import sys


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 - this file alone can be read by an older one
        sys.exit("  why   Python 3.11 or newer is needed\n  try   make PYTHON=/path/to/python3")
    # Not above: an older Python could not even read them, and would end in a traceback.
    from onair_dev import preflight, venv
    from onair_dev.failures import exit_on_failure

    command = sys.argv[1]

    def say(doing: str) -> None:
        print(f"      {doing}", file=sys.stderr, flush=True)

    with exit_on_failure():
        if command == "venv":
            preflight.check_platform()
            preflight.ensure_venv_module(say)
        else:
            preflight.check(command, say)
        venv.ensure(say)


if __name__ == "__main__":
    main()
