"""What a machine can box commands with: proven by trying to get out, and named where it is not."""

import errno
import os
import platform
import sys
import tempfile

import pytest

from tests.support import boxes
from workbench.effects import sandbox_proof
from workbench.effects.child_processes import HookExit, ProcessNotStarted
from workbench.effects.sandbox import Sandbox
from workbench.effects.sandbox_proof import bubblewrap_version, prove_sandbox

UNBOXED = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""
"""A bubblewrap that boxes nothing."""


@pytest.fixture
def machine(monkeypatch):
    """Another machine: no setting of the kernel, no program, no Landlock, nothing proven."""
    monkeypatch.setattr(sandbox_proof, "_PROVEN", {})
    settings = {}
    monkeypatch.setattr(sandbox_proof, "_setting", lambda name: settings.get(name, ""))
    monkeypatch.setattr(sandbox_proof, "_PROGRAMS", ())
    monkeypatch.setattr(sandbox_proof, "landlock_version", lambda: 0)
    monkeypatch.setattr(platform, "release", lambda: "6.1.0-test")
    return settings


@pytest.fixture
def program(monkeypatch, tmp_path):
    """Return what puts a program of some text into the place of bubblewrap."""

    def put(text):
        path = tmp_path / "bwrap"
        path.write_text(text)
        path.chmod(0o755)
        monkeypatch.setattr(sandbox_proof, "_PROGRAMS", (str(path),))
        monkeypatch.setattr(sandbox_proof, "_changeable_part", lambda program: "")
        return path

    return put


# --- here


def test_what_is_here_is_proven_once(monkeypatch):
    first = boxes.sandbox()
    monkeypatch.setattr(sandbox_proof, "_failure_of", lambda *_: pytest.fail("it is known already"))
    assert prove_sandbox("auto") is first
    assert (first.strength, first.problem, first.remedy) == ("full", "", "")
    assert bubblewrap_version(first)[0].isdigit()


def not_started(number):
    error = ProcessNotStarted("bwrap", "this user has too many processes", "end some and do it again")
    error.__cause__ = OSError(number, os.strerror(number))
    return error


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (HookExit(code=None, output=b"", timed_out=True), "longer than 30 s"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "Cannot allocate memory"),
        (FileNotFoundError(errno.ENOENT, "No usable temporary directory found"), "No usable temporary"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "Disk quota exceeded"),
        (not_started(errno.EAGAIN), "this user has too many processes"),
        (ProcessNotStarted("the sandbox", "it took longer than 20 s", "run it again"), "longer than 20 s"),
        (ProcessNotStarted("the sandbox", "it ended before its command", "run it again"), "ended before"),
        (HookExit(code=1, output=b"bwrap: No space left on device", timed_out=False), "No space left"),
        (
            HookExit(
                code=1,
                output=b"bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/"
                b"max_*_namespaces exceeded (ENOSPC)",
                timed_out=False,
            ),
            "exceeded",
        ),
        (HookExit(code=None, output=b"", timed_out=False), "a signal ended it"),
        (HookExit(code=137, output=b"Killed", timed_out=False), "Killed"),
        (HookExit(code=1, output=b"MemoryError", timed_out=False), "MemoryError"),
        (HookExit(code=0, output=b"", timed_out=False), "it printed nothing"),
    ],
)
def test_a_proof_that_does_not_end_is_tried_again(machine, program, monkeypatch, end, why):
    program("#!/bin/sh\n")
    ends = [end]

    def run(*_):
        if isinstance(ends[-1], Exception):
            raise ends[-1]
        return ends[-1]

    monkeypatch.setattr(sandbox_proof, "_run_probe", run)
    unsure = prove_sandbox("auto")
    assert (unsure.backend, unsure.is_unsure) == ("none", True)
    assert why in unsure.problem
    ends.append(HookExit(code=1, output=b"it could write outside", timed_out=False))
    certain = prove_sandbox("auto")
    assert (certain.backend, certain.is_unsure) == ("none", False)
    assert "it could write outside" in certain.problem


def test_files_of_a_proof_are_where_they_are_asked_for(monkeypatch, tmp_path):
    boxes.sandbox()
    monkeypatch.setattr(sandbox_proof, "_PROVEN", {})
    monkeypatch.setattr(tempfile, "tempdir", "/proc/none")
    folder = tmp_path / "data" / "proofs"
    assert prove_sandbox("auto", str(folder)).strength == "full"
    assert list(folder.iterdir()) == []
    monkeypatch.setattr(sandbox_proof, "_PROVEN", {})
    assert prove_sandbox("auto", "/proc/none/proofs").is_unsure
    assert prove_sandbox("auto", str(folder)).strength == "full"


def test_landlock_alone_says_what_it_lacks():
    found = boxes.sandbox("landlock")
    assert (found.strength, found.problem) == ("files", "sandbox.backend is landlock, which hides nothing")
    assert bubblewrap_version(found) == ""


def test_none_is_a_choice():
    found = prove_sandbox("none")
    assert found.strength == "none" and "switched off" in found.problem


def test_a_program_of_path_is_not_taken(monkeypatch, tmp_path):
    boxes.sandbox()
    monkeypatch.setattr(sandbox_proof, "_PROVEN", {})
    (tmp_path / "bwrap").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n{UNBOXED}")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert prove_sandbox("auto").program in sandbox_proof._PROGRAMS
    assert not (tmp_path / "ran").exists()


# --- what does not hold is not taken


def test_a_program_that_boxes_nothing_is_noticed(machine, program):
    program(UNBOXED)
    found = prove_sandbox("auto")
    assert (found.backend, found.is_unsure) == ("none", True)
    assert "its first process is not known" in found.problem


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\nexit 0\n",
        "#!/bin/sh\necho 0123456789abcdef\n",
        "#!/bin/sh\nprintenv WORKBENCH_CALL; cat\n",
    ],
)
def test_a_program_that_only_claims_to_work_is_noticed(machine, program, text):
    program(text)
    assert prove_sandbox("auto").backend == "none"


def without(words, *gone):
    """Return words without some that follow each other."""
    at = next(place for place in range(len(words)) if tuple(words[place : place + len(gone)]) == gone)
    return (*words[:at], *words[at + len(gone) :])


def with_outside(words, box):
    outside = f"{os.path.dirname(box.workspace)}/outside"  # noqa: PTH120
    at = words.index("--chdir") - len(("--remount-ro", "/"))
    return (*words[:at], "--bind", outside, outside, *words[at:])


GAPS = {
    "write outside": with_outside,
    "read a hidden file": lambda words, box: without(words, "--ro-bind", "/dev/null", box.hidden[0]),
    "reach this machine": lambda words, box: without(words, "--unshare-net"),
    "see processes outside": lambda words, box: without(words, "--unshare-pid"),
    "keep capabilities": lambda words, box: ("--cap-add" if word == "--cap-drop" else word for word in words),
    "make a namespace": lambda words, box: ("agent" if word == "command" else word for word in words),
}


@pytest.mark.parametrize("gap", GAPS)
def test_a_box_with_a_gap_is_not_proven(monkeypatch, gap):
    real, words_of = boxes.sandbox(), sandbox_proof.boxed_argv
    monkeypatch.setattr(
        sandbox_proof,
        "boxed_argv",
        lambda sandbox, box, argv: tuple(GAPS[gap](words_of(sandbox, box, argv), box)),
    )
    assert sandbox_proof._failure_of(real) == f"it could {gap}"


def test_a_box_that_cannot_write_in_its_workspace_is_noticed(monkeypatch):
    real, wall = boxes.sandbox(), sandbox_proof.boxed_argv
    monkeypatch.setattr(
        sandbox_proof, "boxed_argv",
        lambda sandbox, box, argv: tuple("--ro-bind" if word == "--bind" else word for word in wall(sandbox, box, argv)),
    )  # fmt: skip
    assert "Read-only" in sandbox_proof._failure_of(real)


# --- what is in the way is named


def test_a_machine_without_bubblewrap(machine):
    found = prove_sandbox("auto")
    assert found == Sandbox(
        backend="none", problem="bubblewrap is not installed", remedy="install the package bubblewrap"
    )


@pytest.mark.parametrize(
    ("name", "value", "problem", "remedy"),
    [
        (
            "user/max_user_namespaces",
            "0",
            "user.max_user_namespaces is 0",
            "sysctl user.max_user_namespaces=",
        ),
        (
            "kernel/unprivileged_userns_clone",
            "0",
            "only root can make namespaces",
            "sysctl kernel.unprivileged_userns_clone=1",
        ),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "AppArmor keeps bubblewrap",
            "bwrap-userns-restrict",
        ),
    ],
)
def test_settings_of_the_kernel(machine, monkeypatch, program, name, value, problem, remedy):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    program("#!/bin/sh\necho bwrap: setting up uid map: Permission denied >&2; exit 1\n")
    machine[name] = value
    found = prove_sandbox("auto")
    assert problem in found.problem and remedy in found.remedy
    sandbox_proof._PROVEN.clear()
    monkeypatch.setattr(sandbox_proof, "_failure_of", lambda *_: "")
    assert prove_sandbox("auto").backend == "bubblewrap", "what works all the same is taken"


@pytest.mark.parametrize(
    ("said", "problem", "remedy"),
    [
        ("bwrap: Unknown option --perms", "is too old (bwrap: Unknown option --perms)", "0.5 or a newer"),
        ("bwrap: No permissions to create new namespace", "namespaces cannot be made here", "container"),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "namespaces cannot", "container"),
        ("bwrap: prctl(PR_SET_SECCOMP): Invalid argument", "cannot refuse system calls", "SECCOMP_FILTER"),
    ],
)
def test_what_bubblewrap_says(machine, program, said, problem, remedy):
    program(f"#!/bin/sh\necho '{said}' >&2; exit 1\n")
    found = prove_sandbox("auto")
    assert problem in found.problem and remedy in found.remedy and not found.is_unsure


def test_other_processors_have_no_filter(machine, monkeypatch, program):
    program("#!/bin/sh\n")
    monkeypatch.setattr(platform, "machine", lambda: "mips")
    found = prove_sandbox("auto")
    assert (found.problem, found.is_unsure) == ("system calls of mips are not known", False)


def test_wsl_1(machine, monkeypatch, program):
    monkeypatch.setattr(platform, "release", lambda: "4.4.0-19041-Microsoft")
    assert prove_sandbox("auto").problem == "WSL 1 has no namespaces"
    monkeypatch.setattr(platform, "release", lambda: "5.15.90.1-microsoft-standard-WSL2")
    assert prove_sandbox("auto").problem == "bubblewrap is not installed"


def test_another_system(machine, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    found = prove_sandbox("auto")
    assert (found.backend, found.problem) == ("none", "there is no sandbox for Darwin yet")
    assert prove_sandbox("landlock").problem == "there is no Landlock outside of Linux"


def test_landlock_takes_over_and_says_why(machine, monkeypatch):
    monkeypatch.setattr(sandbox_proof, "landlock_version", lambda: 6)
    monkeypatch.setattr(sandbox_proof, "_failure_of", lambda *_: "")
    assert prove_sandbox("auto") == Sandbox(
        backend="landlock", problem="bubblewrap is not installed", remedy="install the package bubblewrap"
    )


def test_an_old_landlock_is_not_taken(machine, monkeypatch):
    monkeypatch.setattr(sandbox_proof, "landlock_version", lambda: 5)
    assert "version 6 or newer" in prove_sandbox("landlock").problem
    assert "Linux 6.12 or newer" in prove_sandbox("landlock").remedy
    assert prove_sandbox("landlock").backend == "none"


def test_a_landlock_that_does_not_hold_is_not_taken(machine, monkeypatch):
    monkeypatch.setattr(sandbox_proof, "landlock_version", lambda: 6)
    monkeypatch.setattr(sandbox_proof, "_failure_of", lambda *_: "it could write outside")
    assert "does not hold here: it could write outside" in prove_sandbox("landlock").problem


# --- whose program it is


def change_owner(monkeypatch, path, *, owner=0, mode=0o040755):
    """Let each part of a path belong to root, but one."""
    real = os.lstat

    def lstat(name):
        status = real(name)
        values = list(status)
        values[4] = 0
        if str(name) == str(path):
            values[0], values[4] = mode, owner
        elif values[0] & 0o170000 == 0o040000:
            values[0] = 0o040755
        return os.stat_result(values)

    monkeypatch.setattr(os, "lstat", lstat)


@pytest.mark.parametrize(
    ("part", "facts", "is_taken"),
    [
        ("bin", {}, True),
        ("bin", {"owner": 1000}, False),
        ("bin", {"mode": 0o040775}, False),
        ("bin", {"mode": 0o040777}, False),
        ("bin", {"mode": 0o041777}, True),
        ("bin", {"mode": 0o041777, "owner": 1000}, False),
        ("bin/bwrap", {"mode": 0o100755}, True),
        ("bin/bwrap", {"mode": 0o104755}, True),
        ("bin/bwrap", {"mode": 0o100775}, False),
        ("bin/bwrap", {"mode": 0o100755, "owner": 1000}, False),
        ("store/bwrap", {"mode": 0o100755, "owner": 1000}, False),
        ("store", {"owner": 1000}, False),
    ],
)
def test_only_a_program_that_root_alone_can_change_is_taken(
    machine, monkeypatch, tmp_path, part, facts, is_taken
):
    base = tmp_path.resolve()
    for folder in ("bin", "store"):
        (base / folder).mkdir()
    (base / "store/bwrap").write_text(UNBOXED)
    if part.startswith("store"):
        (base / "bin/bwrap").symlink_to("../store/bwrap")
    else:
        (base / "bin/bwrap").write_text(UNBOXED)
    monkeypatch.setattr(sandbox_proof, "_PROGRAMS", (f"{base}/bin/bwrap",))
    monkeypatch.setattr(sandbox_proof, "_failure_of", lambda *_: "")
    change_owner(monkeypatch, base / part, **facts)
    found = prove_sandbox("auto")
    assert (found.backend == "bubblewrap") == is_taken
    if not is_taken:
        assert f"{base}/{part}" in found.problem
