"""A process that has imported the program and forks: a command of it without the start of an interpreter.

The child has the environment, folder, input and output that it is given, a process group as a started program has it,
and ends as a program ends. A kill leaves the same behind as of a process that was started. What a start itself does
(imports, `-P`, variables of the interpreter) is for tests that start the program.
"""

import atexit
import contextlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import threading
from importlib import import_module
from pathlib import Path

import workbench
from tests.support.waits import PATIENCE
from workbench.effects.fault_points import FAULTS_VARIABLE, arm_faults_from

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = (
    "jsonschema",
    "yaml",
    "re2",
    "httpx",
    "httpcore",
    "tree_sitter_bash",
    "inscriptis",
    "unidiff",
    "pathspec",
)
"""What the program imports where it uses it."""


class ForkServer:
    """The server, and what asks it; one request at a time."""

    def __init__(self):
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fork_server"], cwd=ROOT, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._lock = threading.Lock()
        atexit.register(self._server.communicate)

    def run(self, module, *words, env, cwd=None, stdin=None):
        """Call `main` of a module with words in a fork, and return how that ended, as `subprocess.run` does."""
        with tempfile.TemporaryDirectory(prefix="fork-") as folder:
            files = {name: str(Path(folder) / name) for name in ("stdin", "stdout", "stderr")}
            if stdin is None:
                files["stdin"] = os.devnull
            else:
                Path(files["stdin"]).write_text(stdin)
            request = {"module": module, "words": words, "env": env, "cwd": str(cwd or ROOT), "files": files}
            with self._lock:
                print(json.dumps(request), file=self._server.stdin, flush=True)
                code = json.loads(self._server.stdout.readline())
            said = [Path(files[name]).read_text(errors="replace") for name in ("stdout", "stderr")]
        return subprocess.CompletedProcess([module, *words], code, *said)


_servers = []


def run_forked(module, *words, **more):
    """Run a module's `main` in a fork of the server of this process."""
    if not _servers:
        _servers.append(ForkServer())
    return _servers[0].run(module, *words, **more)


def _load():
    """Import all of the program but the screen and the examples, before the first fork."""
    for module in pkgutil.walk_packages(workbench.__path__, "workbench."):
        if not module.name.startswith(("workbench.tui", "workbench.examples", "workbench.__main__")):
            import_module(module.name)
    for name in LIBRARIES:
        import_module(name)


def _serve():
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if not child:
            _become(request)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(request):
    """Be the program that a request names, to its end."""
    code = 1
    try:
        _stand_in(request)
        code = _called(request["module"], request["words"])
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _stand_in(request):
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    for number, (name, flags) in enumerate(
        (("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY | os.O_CREAT), ("stderr", os.O_WRONLY | os.O_CREAT))
    ):
        opened = os.open(request["files"][name], flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout = os.fdopen(0, encoding="utf-8"), os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)
    signal.alarm(int(PATIENCE))  # what never ends is taken as lost
    arm_faults_from(os.environ.get(FAULTS_VARIABLE, ""))


def _called(module, words):
    """Return the exit code of a call, as an interpreter makes it of what is returned or raised."""
    import traceback

    try:
        sys.argv = [module, *words]
        return import_module(module).main(words) or 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1


if __name__ == "__main__":
    import gc

    _load()
    gc.freeze()
    _serve()
