"""Find out what commands can be boxed with on this machine, by boxing a program that tries to get out."""

# A machine counts as one without a sandbox only for a known cause, and only that answer is kept. Any other
# failure of a proof may be temporary: a full disk, a lack of memory, a killed probe. If it counted, commands
# that a rule allows inside would run outside without a question.

import contextlib
import os
import platform
import re
import secrets
import socket
import stat
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.effects import sandbox_probe
from workbench.effects.child_processes import HookExit, ProcessNotStarted, run_hook
from workbench.effects.file_primitives import FileRefused
from workbench.effects.landlock_start import LEAST_KERNEL, LEAST_VERSION, landlock_version
from workbench.effects.own_processes import bare_interpreter
from workbench.effects.sandbox import BoxDescription, Sandbox, boxed_argv, boxed_environment, make_places
from workbench.effects.syscall_filter import syscall_filter

_PROGRAMS: Final = (
    "/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap",
)  # fmt: skip
"""Where bubblewrap is taken from; never from PATH, which a command may have changed."""
_PROOF_SECONDS: Final = 30.0
_OTHERS_WRITE: Final = 0o022


class Missing(Struct, frozen=True, kw_only=True):
    """Why something does not work here, and what to do."""

    problem: str
    remedy: str


def prove_sandbox(choice: Literal["auto", "landlock", "none"], folder: str | None = None) -> Sandbox:
    """Return what works here of what is chosen, each proven once by this process; blocks while it is.

    A proof that ends unexpectedly says nothing, so it is tried again at the next call. `folder`: where the
    files of the proof are made, and nobody else may write; else in a new temporary folder.
    """
    try:
        return _working_sandbox(choice, folder)
    except ProofUnfinished as error:
        return Sandbox(
            backend="none", is_unsure=True, problem=f"the sandbox could not be tried: {error}",
            remedy="it is tried again at the next command",
        )  # fmt: skip


class ProofUnfinished(Exception):
    """A proof that neither succeeded nor failed for a known reason; the message says why."""


_PROVEN: Final[dict[tuple[str, ...], "Sandbox | Missing"]] = {}
"""What is certain, by what was proven."""


def _working_sandbox(choice: Literal["auto", "landlock", "none"], folder: str | None) -> Sandbox:
    if choice == "none":
        return Sandbox(
            backend="none", problem="the sandbox is switched off by sandbox.backend",
            remedy="set sandbox.backend to auto",
        )  # fmt: skip
    if choice == "landlock":
        full = Missing(problem="sandbox.backend is landlock, which hides nothing", remedy="set it to auto")
    else:
        full = _bubblewrap(folder)
        if isinstance(full, Sandbox):
            return full
    files = _landlock(folder)
    if isinstance(files, Sandbox):
        return replace(files, problem=full.problem, remedy=full.remedy)
    problem = files if choice == "landlock" else full
    return Sandbox(backend="none", problem=problem.problem, remedy=problem.remedy)


def bubblewrap_version(sandbox: Sandbox) -> str:
    """Return what bubblewrap says of its version; empty for another backend."""
    if not sandbox.program:
        return ""
    with contextlib.suppress(ProcessNotStarted):
        done = run_hook((sandbox.program, "--version"), b"", "/", {}, _PROOF_SECONDS)
        return done.output.decode("utf-8", "replace").strip().removeprefix("bubblewrap ")
    return ""


# --- bubblewrap -----------------------------------------------------------------------------------


def _bubblewrap(folder: str | None) -> Sandbox | Missing:
    if sys.platform != "linux":
        return Missing(
            problem=f"there is no sandbox for {platform.system()} yet", remedy="run workbench in Linux"
        )
    problem = _kernel_problem()
    there = [path for path in _PROGRAMS if os.path.lexists(path)]
    if not there:
        return problem or Missing(
            problem="bubblewrap is not installed", remedy="install the package bubblewrap"
        )
    if unknown := _processor_problem():
        return unknown
    for path in there:
        if not _changeable_part(path):
            return _proven_bubblewrap(path, folder)
    return Missing(
        problem=f"{there[0]} could be changed by other users than root: {_changeable_part(there[0])}",
        remedy="install the package bubblewrap of your system again",
    )


def _processor_problem() -> Missing | None:
    try:
        syscall_filter("command")
    except LookupError as error:
        return Missing(problem=str(error), remedy="use an x86_64, aarch64 or riscv64 machine")
    return None


def _changeable_part(program: str) -> str:
    """Return the part of a path that somebody other than root may replace; empty if there is none."""
    for path in dict.fromkeys((program, os.path.realpath(program))):
        while True:
            status = os.lstat(path)
            is_shared = status.st_mode & _OTHERS_WRITE and not stat.S_ISLNK(status.st_mode)
            # In a folder with the sticky bit nobody replaces what belongs to root.
            if status.st_uid != 0 or (is_shared and not status.st_mode & stat.S_ISVTX):
                return path
            if path == "/":
                break
            path = os.path.dirname(path)  # noqa: PTH120 -- text
    return ""


def _proven_bubblewrap(program: str, folder: str | None) -> Sandbox | Missing:
    status = Path(program).stat()
    key = (program, str(status.st_ino), str(status.st_mtime_ns))
    if key not in _PROVEN:
        sandbox = Sandbox(backend="bubblewrap", program=program)
        failure = _failure_of(sandbox, folder)
        _PROVEN[key] = _named_failure(program, failure) if failure else sandbox
    return _PROVEN[key]


def _kernel_problem() -> Missing | None:
    """Return what is set so that namespaces cannot be made, as far as the kernel says so."""
    for name, forbidding, problem, remedy in _KERNEL_SETTINGS:
        if _setting(name) == forbidding and not (name == _APPARMOR and os.geteuid() == 0):
            return Missing(problem=problem, remedy=remedy)
    release = platform.release().lower()
    if "microsoft" in release and "standard" not in release:
        return Missing(problem="WSL 1 has no namespaces", remedy="run `wsl --set-version DISTRIBUTION 2`")
    return None


_MOST_NAMESPACES: Final = "user/max_user_namespaces"
_APPARMOR: Final = "kernel/apparmor_restrict_unprivileged_userns"
_KERNEL_SETTINGS: Final = (
    (_MOST_NAMESPACES, "0", "user.max_user_namespaces is 0, so no namespaces can be made",
     "run `sysctl user.max_user_namespaces=15000` as root"),
    ("kernel/unprivileged_userns_clone", "0",
     "kernel.unprivileged_userns_clone is 0, so only root can make namespaces",
     "run `sysctl kernel.unprivileged_userns_clone=1` as root"),
    (_APPARMOR, "1", "AppArmor keeps bubblewrap from making namespaces",
     "install the package apparmor-profiles, link /usr/share/apparmor/extra-profiles/bwrap-userns-restrict "
     "into /etc/apparmor.d and run `systemctl reload apparmor`, as root"),
)  # fmt: skip


def _setting(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text("ascii").strip()
    except OSError:
        return ""


_TOO_OLD: Final = re.compile(r"Unknown option")
_NO_FILTERS: Final = re.compile(r"PR_SET_SECCOMP.*(EINVAL|Invalid argument)")
_GAP_FOUND: Final = "it could "
"""How the probe begins to say what it could do."""
_FORBIDDEN: Final = re.compile(
    r"^bwrap: .*(No permissions to create|kernel does not support user namespaces|Operation not permitted"
    r"|(namespace|id map|loopback|mount|pivot_root|make / ).*Permission denied)"
)
_NONE_LEFT: Final = re.compile(r"^bwrap: .*namespaces exceeded")
"""Of a user who may have none, or who has used up all of them for now."""


def _named_failure(program: str, failure: str) -> Missing:
    """Return the known cause of a failure. Raises ProofUnfinished for an unknown one."""
    if failure.startswith(_GAP_FOUND):
        return Missing(
            problem=f"bubblewrap does not hold here: {failure}", remedy="run `workbench sandbox try -- true`"
        )
    if _TOO_OLD.search(failure):
        return Missing(
            problem=f"{program} is too old ({failure})", remedy="install bubblewrap 0.5 or a newer one"
        )
    if _NO_FILTERS.search(failure):
        return Missing(
            problem=f"this kernel cannot refuse system calls ({failure})",
            remedy="use a kernel with CONFIG_SECCOMP_FILTER",
        )
    is_never_left = _NONE_LEFT.search(failure) and _setting(_MOST_NAMESPACES) == "0"
    if not (_FORBIDDEN.search(failure) or is_never_left):
        raise ProofUnfinished(failure)
    return _kernel_problem() or Missing(
        problem=f"namespaces cannot be made here ({failure})",
        remedy="in a container, start it so that it may make user namespaces",
    )


# --- Landlock -------------------------------------------------------------------------------------


def _landlock(folder: str | None) -> Sandbox | Missing:
    if sys.platform != "linux":
        return Missing(problem="there is no Landlock outside of Linux", remedy="run workbench in Linux")
    if unknown := _processor_problem():
        return unknown
    key = ("landlock",)
    if key not in _PROVEN:
        _PROVEN[key] = _proven_landlock(folder)
    return _PROVEN[key]


def _proven_landlock(folder: str | None) -> Sandbox | Missing:
    version = landlock_version()
    if version < LEAST_VERSION:
        return Missing(
            problem=f"this kernel has no Landlock of version {LEAST_VERSION} or newer",
            remedy=f"use Linux {LEAST_KERNEL} or newer, with landlock among its security modules",
        )
    sandbox = Sandbox(backend="landlock")
    failure = _failure_of(sandbox, folder)
    if failure and not failure.startswith(_GAP_FOUND):
        raise ProofUnfinished(failure)
    if failure:
        return Missing(problem=f"Landlock does not hold here: {failure}", remedy="use another kernel")
    return sandbox


# --- the proof ------------------------------------------------------------------------------------


def _failure_of(sandbox: Sandbox, folder: str | None = None) -> str:
    """Return why a sandbox is not proven: what it did not refuse, or what it said; empty if it is.

    Raises ProofUnfinished where the probe did not run to its end.
    """
    word = secrets.token_hex(16)
    try:
        with _probe_box(folder) as box, _listener() as port:
            done = _run_probe(sandbox, box, word, port)
    except ProcessNotStarted as error:  # it may be what bubblewrap said
        return error.why
    except (OSError, FileRefused) as error:
        raise ProofUnfinished(str(error)) from error
    if done.timed_out:
        raise ProofUnfinished(f"it took longer than {_PROOF_SECONDS:g} s")
    if done.code is None:
        raise ProofUnfinished("a signal ended it")
    printed = done.output.decode("utf-8", "replace").strip()
    return "" if printed == word else printed.rpartition("\n")[2] or "it printed nothing"


def _run_probe(sandbox: Sandbox, box: BoxDescription, word: str, port: int) -> HookExit:
    python, _ = bare_interpreter()
    source = Path(sandbox_probe.__file__).read_text("utf-8")
    outside = os.path.dirname(box.workspace) + "/outside"  # noqa: PTH120 -- text
    argv = (python, "-I", "-S", "-c", source, word, box.workspace, outside, box.hidden[0], str(port))
    words = boxed_argv(sandbox, box, (*argv, str(os.getpid()), sandbox.strength))
    return run_hook(words, b"", box.folder, boxed_environment({}, box), _PROOF_SECONDS, is_boxed=True)


@contextlib.contextmanager
def _probe_box(parent: str | None) -> Generator[BoxDescription]:
    if parent is not None:
        os.makedirs(parent, mode=0o700, exist_ok=True)  # noqa: PTH103 -- text
    with tempfile.TemporaryDirectory(prefix="workbench-sandbox-", dir=parent) as name:
        folder = Path(name).resolve()
        for part in ("workspace", "outside", "home"):
            (folder / part).mkdir()
        hidden = folder / "workspace" / "hidden"
        for file in (hidden, folder / "outside" / "kept"):
            file.write_text("hidden", "ascii")
        box = BoxDescription(
            level="workspace", workspace=f"{folder}/workspace", folder=f"{folder}/workspace",
            visible=(bare_interpreter()[1],), closed=(), hidden=(str(hidden),), home=f"{folder}/home",
            temporary=f"{folder}/temporary", caches=f"{folder}/caches",
        )  # fmt: skip
        make_places(box)
        yield box


@contextlib.contextmanager
def _listener() -> Generator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]
