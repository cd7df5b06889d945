"""Attacks on boxes that take more than one call: races, floods, terminals, and file operations drawn at random."""

import fcntl
import hashlib
import json
import os
import platform
import pty
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support import boxes
from tests.support.escape_scene import interpreter
from tests.support.sizes import size
from workbench.effects.child_processes import ProcessNotStarted
from workbench.host.command_box import quarantine_new_closed

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user and mount")


@pytest.fixture
def base(tmp_path):
    boxes.sandbox()
    return tmp_path.resolve()


@pytest.fixture
def open_base():
    """A folder that every user may enter, as that of pytest is not."""
    boxes.sandbox()
    folder = Path(tempfile.mkdtemp(prefix="workbench-box-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def run_program(folder, *words, **wanted):
    """Run commands in boxes in a program of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.box_program"], text=True, capture_output=True, check=False, cwd=ROOT,
        input=json.dumps({"folder": str(folder), "words": words, **wanted}),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# --- what changes while a box is made


@pytest.mark.parametrize("target", ["../outside", "../../../../../usr", "other"])
def test_a_link_in_the_place_of_a_folder_of_the_way_is_noticed(base, target):
    """Another command writes in the workspace too, and swaps a folder after the box was described."""
    planned_for = base / "project"
    (planned_for / "sub").mkdir(parents=True)
    (planned_for / "sub/.envrc").write_text("x")
    (planned_for / "other").mkdir()
    (planned_for / "other/.envrc").write_text("x")
    (base / "outside").mkdir()
    (base / "outside/.envrc").write_text("x")
    planned = boxes.plan(base)
    (planned_for / "sub").rename(planned_for / "away")
    (planned_for / "sub").symlink_to(target)
    with pytest.raises(ProcessNotStarted):
        boxes.run(planned, "echo y > sub/.envrc; echo y > sub/new")
    assert sorted(os.listdir(base / "outside")) == [".envrc"]  # noqa: PTH208
    assert {(planned_for / name / ".envrc").read_text() for name in ("away", "other")} == {"x"}


def test_a_link_in_the_place_of_a_closed_file_is_noticed(base):
    (base / "project").mkdir()
    (base / "project/.envrc").write_text("x")
    (base / "secret").write_text("a secret")
    planned = boxes.plan(base)
    (base / "project/.envrc").unlink()
    (base / "project/.envrc").symlink_to("../secret")
    with pytest.raises(ProcessNotStarted):
        boxes.run(planned, "cat .envrc")


def test_links_left_in_tmp_and_caches_lead_nowhere(base):
    """The next box mounts its folders in places that the one before could write."""
    (base / "home/.cargo/registry").mkdir(parents=True)
    planned = boxes.plan(base)
    boxes.says(
        planned,
        'rm -rf "$HOME/.cargo/registry" 2>&1; mkdir -p /tmp/a && ln -s /etc /tmp/b && ln -s ../../.. "$HOME/.cache/x"',
    )
    registry = base / "data/sandbox/caches/c/cargo/registry"
    registry.rmdir()
    registry.symlink_to("/etc")
    again = boxes.plan(base)
    assert boxes.says(again, 'ls "$HOME/.cargo/registry" | wc -l').strip() == "0"


# --- floods


BOMB = "exec 9>lock; flock -s 9; bomb() { bomb | bomb & }; bomb; echo ready; sleep 600"


@as_root
def test_a_fork_bomb_is_ended_whole(open_base):
    (open_base / "project").mkdir()
    for path in (open_base, open_base / "project"):
        os.chown(path, NOBODY, NOBODY)
    (found,) = run_program(open_base, BOMB, user=NOBODY, processes=150, stop_at="ready")
    assert found["stopped"]
    with (open_base / "project/lock").open("rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as each of them held it


@as_root
def test_a_full_tmp_harms_nothing_else(base):
    fill = "head -c 10000000 /dev/zero > /tmp/full; echo code $?; echo fine > here; ls -l /tmp/full | wc -l"
    again = "cat here; rm /tmp/full; echo x > /tmp/new && cat /tmp/new"
    first, second = run_program(base, fill, again, small_tmp=300_000)
    assert "No space left" in first["output"] and first["output"].endswith("code 1\n1\n")
    assert second["output"] == "fine\nx\n"


# --- the bits by which a file runs with the rights of its user

REFUSED = (
    "chmod u+s made", "chmod 4755 made", "install -m 4755 /bin/true installed", "cp -p made-setuid copied",
    "python3 -c 'import os; os.chmod(\"made\", 0o4755)'",
)  # fmt: skip
FOLDERS = ("chmod g+s sub", "mkdir -m 2775 new")
COPIES = (
    "cp -a sub copied-sub", "tar cf - sub | (mkdir out && tar xpf - -C out)", "git init -q repository",
    "python3 -c 'import shutil; shutil.copytree(\"sub\", \"tree\")'",
)  # fmt: skip


@pytest.mark.parametrize("is_shared", [False, True])
def test_programs_set_no_setuid_bit_and_setgid_only_where_the_workspace_has_it(base, is_shared):
    """Folders below such a workspace inherit its bit, and programs that copy them set it again."""
    workspace = base / "project"
    workspace.mkdir()
    workspace.chmod(0o2755 if is_shared else 0o755)
    (workspace / "sub/deep").mkdir(parents=True)
    for name, mode in (("made", 0o755), ("made-setuid", 0o4755)):
        (workspace / name).touch()
        (workspace / name).chmod(mode)
    lines = "\n".join(f"({line}) 2>/dev/null; echo $?" for line in (*REFUSED, *FOLDERS, *COPIES))
    codes = boxes.says(boxes.plan(base), lines).split()
    expected = ["1"] * len(REFUSED) + ["0" if is_shared else "1"] * len(FOLDERS) + ["0"] * len(COPIES)
    assert codes == expected
    with_bits = {
        path.name for path in workspace.rglob("*") if path.is_file() and path.lstat().st_mode & 0o6000
    }
    assert with_bits == {"made-setuid"}


# --- the first process of a box, which waits for the others

TRACE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
attach, seize, trace_me = 16, 0x4206, 0
print([libc.ptrace(request, 1, 0, 0) for request in (attach, seize)])
child = os.fork()
if child == 0:
    libc.ptrace(trace_me, 0, 0, 0)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_command_that_traces_the_first_process_of_its_box_ends_all_the_same(base):
    (base / "project").mkdir()
    done, output = boxes.run(boxes.plan(base), interpreter(), "-I", "-S", "-c", TRACE)
    assert (output, done.code, done.timed_out) == ("[-1, -1]\n7\n", 0, False)


# --- boxes in boxes

NESTED = "bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent echo nested"


@as_root
@pytest.mark.parametrize(("can_nest", "output"), [(True, "nested\n"), (False, "")])
def test_only_an_agent_boxes_its_own_commands(open_base, can_nest, output):
    """As root no namespace can be made in one that has no capabilities: so it is tried as another user."""
    os.chown(open_base, NOBODY, NOBODY)
    (found,) = run_program(open_base, NESTED, user=NOBODY, can_nest=can_nest)
    assert (found["code"] == 0) == can_nest
    assert output in found["output"]


REPLACES = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
workspace, user, group = os.open(".", os.O_RDONLY), os.getuid(), os.getgid()
def must(result):
    if result:
        raise SystemExit(os.strerror(ctypes.get_errno()))
must(libc.unshare(0x10000000 | 0x20000))  # users and mounts
open("/proc/self/setgroups", "w").write("deny")
open("/proc/self/uid_map", "w").write(f"0 {user} 1")
open("/proc/self/gid_map", "w").write(f"0 {group} 1")
must(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))
os.mkdir("/tmp/old")
os.chdir("/tmp")
must(libc.syscall(155, b".", b"old"))  # pivot_root
must(libc.umount2(b"/old", 2))
for name in (".git", ".envrc"):
    os.rename(name, name + ".moved", src_dir_fd=workspace, dst_dir_fd=workspace)
    os.mkdir(name, dir_fd=workspace)
print("replaced")
"""


@as_root
@pytest.mark.skipif(platform.machine() != "x86_64", reason="it calls pivot_root by its number")
@pytest.mark.parametrize(("can_nest", "changed"), [(True, [".envrc", ".git"]), (False, [])])
def test_what_an_agent_replaces_by_namespaces_is_noticed_and_a_command_replaces_nothing(
    open_base, can_nest, changed
):
    project = open_base / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".git/HEAD").write_text("ref: refs/heads/main")
    (project / ".envrc").write_text("x")
    for path in (open_base, *open_base.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    line = f"{shutil.which('python3', path='/usr/bin')} -c {shlex.quote(REPLACES)}"
    (found,) = run_program(open_base, line, user=NOBODY, can_nest=can_nest)
    assert ("replaced" in found["output"]) == can_nest
    assert sorted(os.path.relpath(path, project) for path in found["changed"]) == changed


# --- terminals

TYPES = """
import fcntl, glob, os, termios
tried = 0
for path in ("/dev/tty", "/dev/console", *glob.glob("/dev/pts/[0-9]*"), *glob.glob("/proc/self/fd/*"), *glob.glob("/proc/[0-9]*/fd/*")):
    try:
        file = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    except OSError:
        continue
    for request in (0x540E, 0x5412):  # become its session, then type into it
        try:
            fcntl.ioctl(file, request, b"x" if request == 0x5412 else 0)
            tried += request == 0x5412
        except OSError:
            pass
for file in (0, 1, 2):
    try:
        fcntl.ioctl(file, 0x5412, b"x")
        tried += 1
    except OSError:
        pass
print("typed", tried)
"""
IN_TERMINAL = """
import asyncio, sys
from pathlib import Path
from tests.support import boxes
done, output = boxes.run(boxes.plan(Path(sys.argv[1])), *sys.argv[2:])
print(output)
"""


def in_terminal(*words):
    """Run a program with a terminal of its own; return what it prints."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(ROOT)
        os.environ["PYTHONPATH"] = str(ROOT)
        os.execv(words[0], words)
    output = b""
    while True:
        try:
            output += os.read(terminal, 4096)
        except OSError:
            break
    os.waitpid(process, 0)
    os.close(terminal)
    return output.decode()


def is_typing_possible():
    try:
        return Path("/proc/sys/dev/tty/legacy_tiocsti").read_text().strip() == "1"
    except OSError:
        return True


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_nothing_is_typed_into_a_terminal(base):
    python = interpreter()
    outside = in_terminal(python, "-I", "-S", "-c", TYPES)
    if is_typing_possible():
        assert "typed 0" not in outside
    visible = str(Path(python).parents[1])
    assert visible
    assert "typed 0" in in_terminal(
        sys.executable, "-c", IN_TERMINAL, str(base), python, "-I", "-S", "-c", TYPES
    )


# --- drawn at random

VERBS = (
    "touch {a}", "rm -rf {a}", "mv {a} {b}", "cp -r {a} {b}", "ln -s {a} {b}", "ln {a} {b}", "ln -sfn {a} {b}", "mkdir -p {a}",
    "echo x > {a}", "echo x >> {a}", "chmod -R 777 {a}", "chmod 000 {a}", "rmdir {a}", "truncate -s 0 {a}", "cd {a}",
    "cd {workspace}", "tar cf - {a} | tar xf - -C {b}", "mkfifo {a}", "dd if=/dev/zero of={a} bs=10 count=1", "sed -i s/k/x/ {a}",
    "mv -T {a} {b}", "cp -a {a} {b}", "unlink {a}", "install -m 755 {a} {b}", "find {a} -delete", "touch -h {a}",
    "git init -q {a}", "git -C {a} commit -q --allow-empty -m x", "git -C {a} config a.b c",
)  # fmt: skip
INSIDE = (
    "{w}", "{w}/.git", "{w}/.git/config", "{w}/.git/hooks/pre-commit", "{w}/.envrc", "{w}/sub", "{w}/sub/deep", "{w}/sub/deep/.envrc",
    "{w}/link-out", "{w}/link-out/kept", "{w}/a", "{w}/b", "{w}/a/c", "{w}/.vscode", "{w}/.vscode/tasks.json", "{w}/..", "{w}/../..",
    "{w}/CLAUDE.md", "/tmp/x", "$HOME", "$HOME/.cache/x", "$HOME/.bashrc", "{o}", "{o}/kept", "{o}/folder", "{o}/folder/file", "{d}",
    "{d}/key", "/etc/hostname", "/usr/bin", ".", "..", "a", "b",
)  # fmt: skip


def drawn_script(seed, workspace, outside, data):
    draw = random.Random(seed)
    names = [name.format(w=workspace, o=outside, d=data) for name in INSIDE]
    lines = (
        draw.choice(VERBS).format(a=draw.choice(names), b=draw.choice(names), workspace=workspace)
        for _ in range(60)
    )
    return "\n".join(
        f"timeout 5 sh -c '{line}' 2>/dev/null" if not line.startswith("cd ") else line for line in lines
    )


def digest(folder):
    """Return all that is at a path: names, kinds, permissions, bytes and where links lead."""
    found = hashlib.sha256()
    for path in sorted([folder, *folder.rglob("*")]):
        if not os.path.lexists(path):
            continue
        status = path.lstat()
        found.update(f"{path} {status.st_mode} {status.st_nlink if path.is_file() else 0}\n".encode())
        if path.is_symlink():
            found.update(os.fsencode(path.readlink()))
        elif path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


def make_world(base):
    workspace, outside = base / "project", base / "outside"
    for folder in (".git/hooks", ".git/objects", ".git/refs", "sub/deep", ".vscode"):
        (workspace / folder).mkdir(parents=True)
    for path in (".git/HEAD", ".git/config", ".envrc", "sub/deep/.envrc", ".vscode/tasks.json"):
        (workspace / path).write_text("kept\n")
    (outside / "folder").mkdir(parents=True)
    for path in (outside / "kept", outside / "folder/file"):
        path.write_text("kept\n")
    for folder in ("home/.ssh", "data"):
        (base / folder).mkdir(parents=True)
    (base / "home/.bashrc").write_text("kept\n")
    (base / "home/.ssh/id").write_text("kept\n")
    (base / "data/key").write_text("kept\n")
    (workspace / "link-out").symlink_to(outside)
    (workspace / "CLAUDE.md").symlink_to("sub/notes")


def state(base):
    """Return what no command may change: all outside the workspace, and its closed paths."""
    closed = (".git", ".envrc", "sub/deep/.envrc", ".vscode/tasks.json")
    link = base / "project/CLAUDE.md"
    return {
        **{name: digest(base / name) for name in ("outside", "home", "data/key")},
        **{name: digest(base / "project" / name) for name in closed},
        "link": str(link.readlink()) if link.is_symlink() else "gone",
        "etc": digest(Path("/etc/hostname")),
    }


@pytest.mark.parametrize("seed", range(size("WORKBENCH_BOX_SCRIPTS", 6, 300)))
def test_no_drawn_script_changes_a_byte_outside_its_places(base, seed):
    make_world(base)
    planned, before = boxes.plan(base), state(base)
    script = drawn_script(seed, base / "project", base / "outside", base / "data")
    boxes.run(planned, script)
    quarantine_new_closed(planned)
    assert state(base) == before


def test_drawn_scripts_do_change_things_in_a_box_that_lets_them(base):
    """Else the test above would prove nothing."""
    changed = 0
    for seed in range(4):
        world = base / str(seed)
        make_world(world)
        planned, before = boxes.plan(world), state(world)
        wide = replace(planned.box, workspace=str(world), closed=(), hidden=())
        boxes.run(
            replace(planned, box=wide),
            drawn_script(seed, world / "project", world / "outside", world / "data"),
        )
        changed += state(world) != before
    assert changed == 4
