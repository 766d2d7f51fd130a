"""The command line: ``intervalid`` in a shell, or ``python -m intervalid``."""

from __future__ import annotations

import sys

from . import _intervalid


def main() -> int:
    """Runs the command line with the arguments of this process and gives its exit code."""
    return _intervalid.command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
