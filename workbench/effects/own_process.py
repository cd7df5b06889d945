"""How this program starts itself: one command line, environment and folder for all processes of its own.

Owns that such a process imports nothing from the folder in which somebody stands, and nothing that a variable
of the interpreter names. Commands, hooks and adapters are started elsewhere and never see any of this.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from workbench import ASIDE
from workbench.effects.process import start_detached

_PACKAGE: Final = Path(__file__).parents[1]
_FROM_FOLDER: Final = (
    "import runpy, sys; sys.path.append(sys.argv.pop(1)); "
    "runpy.run_module('workbench', run_name='__main__', alter_sys=True)"
)


def start_own(words: Sequence[str], data: Path, log: Path, env: Mapping[str, str] = os.environ) -> int:
    """Start this program anew as a process that goes on after this one, and return its pid.

    Args:
        words: What stands behind the program's name; paths in them are absolute.
        data: The data folder, which it works in.
        log: Takes what it prints.
        env: The user's environment.

    Raises:
        NotStarted: It could not be started.
        FileRefused: The log could not be opened.
    """
    return start_detached(own_command(words, env), log, own_environment(data, env), cwd=str(data))


def own_command(words: Sequence[str], env: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command line that starts this program anew.

    Only where this package itself was taken from an absolute folder of PYTHONPATH is that folder named, and
    it comes last, so that no file in it stands in front of another module.
    """
    folder = str(_PACKAGE.parent)
    is_named = folder in map(os.path.realpath, filter(os.path.isabs, _folders(env)))
    program = ["-c", _FROM_FOLDER, folder] if is_named else ["-m", "workbench"]
    return [sys.executable, "-P", *_flags(), *program, *words]


def own_environment(data: Path, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the user's environment with the variables of the interpreter set aside."""
    kept = {ASIDE + name if name.startswith("PYTHON") else name: value for name, value in env.items()}
    return {**kept, "WORKBENCH_HOME": str(data)}


def _flags() -> list[str]:
    """Return what the user asked of this interpreter and what names no file."""
    flags = (("-s", sys.flags.no_user_site), ("-B", sys.flags.dont_write_bytecode))
    return [flag for flag, is_set in flags if is_set] + (["-X", "utf8"] if sys.flags.utf8_mode else [])


def _folders(env: Mapping[str, str]) -> list[str]:
    return env.get("PYTHONPATH", "").split(os.pathsep)
