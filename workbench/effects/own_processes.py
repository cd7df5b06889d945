"""Processes of this program: detached, in the data folder, with its own interpreter."""

import os
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from workbench import SET_ASIDE_PREFIX
from workbench.effects.child_processes import spawn
from workbench.effects.path_files import open_append
from workbench.effects.process_table import reap_later


def start_detached(
    argv: Sequence[str],
    log_path: Path,
    env: Mapping[str, str],
    cwd: str | None = None,
    inherited: Collection[int] = (),
) -> int:
    """Start a process that outlives this one, without input, its output at the end of a log; return its pid.

    `inherited`: descriptors that it gets under their own numbers. Raises ProcessNotStarted, and FileRefused
    for the log.
    """
    with open_append(log_path) as log:
        child = spawn(
            argv, cwd, dict(env), stdin=subprocess.DEVNULL, output=log.fileno(), is_detached=True,
            inherited=inherited,
        )  # fmt: skip
    reap_later(child)
    return child.pid


_PACKAGE: Final = Path(__file__).parents[1]
_RUN_FROM_FOLDER: Final = (
    "import runpy, sys; sys.path.append(sys.argv.pop(1)); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


def start_workbench(words: Sequence[str], data: Path, log: Path, env: Mapping[str, str] = os.environ) -> int:
    """Start this program anew as a detached process in its data folder; return its pid.

    Paths in `words` are absolute. Raises as `start_detached`.
    """
    return start_detached(
        workbench_command_line(words, env), log, workbench_environment(data, env), cwd=str(data)
    )


def own_interpreter() -> str:
    """Return the absolute path of the Python that runs this program."""
    return sys.executable


def bare_interpreter() -> tuple[str, str]:
    """Return the real path of this Python, and the folder of its installation: of no virtual environment."""
    return os.path.realpath(sys.executable), os.path.realpath(sys.base_prefix)


def own_installation() -> tuple[str, ...]:
    """Return what this program's processes are started from: its Python and its environment, as named."""
    parts = ("bin", "lib", "lib64", "pyvenv.cfg")
    prefixes = dict.fromkeys((sys.prefix, sys.base_prefix))
    return (sys.executable, *prefixes, *(f"{prefix}/{part}" for prefix in prefixes for part in parts))


def workbench_command_line(
    words: Sequence[str], env: Mapping[str, str] = os.environ, module: str = "workbench"
) -> list[str]:
    """Return the command line that starts this program, or another module of it.

    Only where this package itself was taken from an absolute folder of PYTHONPATH is that folder named, and
    it comes last, so that no file in it stands in front of another module.
    """
    folder = str(_PACKAGE.parent)
    python_path = env.get("PYTHONPATH", "").split(os.pathsep)
    is_named = folder in map(os.path.realpath, filter(os.path.isabs, python_path))
    program = ["-c", _RUN_FROM_FOLDER, folder, module] if is_named else ["-m", module]
    return [sys.executable, "-P", *_interpreter_flags(), *program, *words]


def workbench_environment(data: Path, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the user's environment with the variables of the interpreter set aside."""
    variables = {
        SET_ASIDE_PREFIX + name if name.startswith("PYTHON") else name: value for name, value in env.items()
    }
    return {**variables, "WORKBENCH_HOME": str(data)}


def _interpreter_flags() -> list[str]:
    flags = (("-s", sys.flags.no_user_site), ("-B", sys.flags.dont_write_bytecode))
    return [flag for flag, is_set in flags if is_set] + (["-X", "utf8"] if sys.flags.utf8_mode else [])
