"""`python -m workbench`: the same as the command `workbench`, without the current folder on the import path.

Undoes what Python does at such a start: it searches every module in the current folder first.
"""

import os
import sys

from workbench import SET_ASIDE_PREFIX
from workbench.cli.main import main as main_main


def _leave_folder() -> None:
    """Import nothing more from the current folder, which `python -m` puts first; `-P` has left it out."""
    try:
        here = os.getcwd()  # noqa: PTH109 -- nothing is imported before this
    except OSError:
        here = ""  # the folder is gone
    if sys.flags.safe_path or not sys.path or sys.path[0] not in ("", here):
        return
    sys.path.pop(0)
    if here and __file__.startswith(f"{here.rstrip('/')}/workbench/"):
        sys.path.append(here)


def _take_back() -> None:
    """Give the variables of the interpreter their names back: it has started without them."""
    for name in [name for name in os.environ if name.startswith(SET_ASIDE_PREFIX)]:
        os.environ[name.removeprefix(SET_ASIDE_PREFIX)] = os.environ.pop(name)


if __name__ == "__main__":
    _leave_folder()
    _take_back()

    sys.exit(main_main())
