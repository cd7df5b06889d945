"""A program of its own that tries one way out of a box (`escapes.py`); run by any Python, with nothing of ours.

Arguments: the name of the way, and the scene as JSON. It ends with 0 if it believes that it worked.
"""

# System calls are what is tried here.
# ruff: noqa: PTH101, PTH102, PTH103, PTH104, PTH108, PTH123, PTH211

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import stat
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
REMOVE = 0
NEW_USER, NEW_MOUNTS = 0x10000000, 0x20000
BIND, RECURSIVELY_PRIVATE, DETACH, EXCHANGE, PTRACE_ATTACH = 4096, 0x44000, 2, 2, 16
HOOK = "#!/bin/sh\necho escaped\n"


def check(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def write(path, text="escaped", mode="w"):
    with open(path, mode) as file:
        file.write(text)


def show(path):
    with open(path, "rb") as file:
        sys.stdout.buffer.write(file.read(4096))


def repository(folder):
    os.makedirs(f"{folder}/hooks")
    for name in ("objects", "refs"):
        os.mkdir(f"{folder}/{name}")
    write(f"{folder}/HEAD", "ref: refs/heads/main\n")
    write(f"{folder}/hooks/pre-commit", HOOK)


# --- files outside


def write_outside(s):
    write(f"{s['outside']}/new")


def append_outside(s):
    write(f"{s['outside']}/kept", mode="a")


def truncate_outside(s):
    os.truncate(f"{s['outside']}/kept", 0)


def unlink_outside(s):
    os.unlink(f"{s['outside']}/kept")


def write_through_link(s):
    write("link-out")


def write_through_new_link(s):
    os.symlink(f"{s['outside']}/kept", "made-link")
    write("made-link")


def write_through_hard_link(s):
    os.link(f"{s['outside']}/kept", "made-hard-link")
    write("made-hard-link")


def rename_outside(s):
    os.rename("plain.txt", f"{s['outside']}/new")


def write_home(s):
    write(f"{s['home']}/.bashrc", mode="a")


def read_home_secret(s):
    show(f"{s['home']}/.ssh/id")


def read_unknown_secret(s):
    show(f"{s['home']}/.unheard-of/token")


def read_data_folder(s):
    show(f"{s['data']}/key")


def read_etc_shadow(s):
    with open("/etc/shadow", "rb") as file:
        file.read(1)


# --- other processes


def proc_root(s):
    write(f"/proc/{s['victim']}/root{s['outside']}/kept")


def proc_cwd(s):
    write(f"/proc/{s['victim']}/cwd/kept")


def proc_fd(s):
    write(f"/proc/{s['victim']}/fd/{s['victim_file']}")


def proc_environ(s):
    show(f"/proc/{s['victim']}/environ")


def ptrace(s):
    check(LIBC.ptrace(PTRACE_ATTACH, s["victim"], 0, 0))


def kill(s):
    os.kill(s["victim"], signal.SIGKILL)


def limit(s):
    """Allow a process no second of a processor; an old limit of more is returned."""
    was = resource.prlimit(s["victim"], resource.RLIMIT_CPU)
    resource.prlimit(s["victim"], resource.RLIMIT_CPU, (0, was[1]))


def remove_memory(s):
    check(LIBC.shmctl(s["memory"], REMOVE, None))


def set_namespace(s):
    file = os.open(f"/proc/{s['victim']}/ns/mnt", os.O_RDONLY)
    check(LIBC.setns(file, 0))


def stay(s):
    """Hold a lock in a process that nobody is the parent of."""
    ready, told = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            file = os.open("stays", os.O_RDWR | os.O_CREAT)
            fcntl.flock(file, fcntl.LOCK_EX)
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.write(told, b"x")
            time.sleep(600)
        os._exit(0)
    os.read(ready, 1)


# --- sockets


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(5)
        connection.connect(address)
        connection.sendall(b"escaped")


def abstract_socket(s):
    connect(socket.AF_UNIX, "\0" + s["abstract"])


def docker_socket(s):
    connect(socket.AF_UNIX, f"{s['outside']}/docker.sock")


def workspace_socket(s):
    connect(socket.AF_UNIX, "agent.sock")


def tcp(s):
    connect(socket.AF_INET, ("127.0.0.1", s["tcp"]))


def udp(s):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        sending.sendto(b"escaped", ("127.0.0.1", s["udp"]))


def vsock(s):
    socket.socket(40, socket.SOCK_STREAM).close()


def keyring(s):
    numbers = {"x86_64": 248, "aarch64": 217, "riscv64": 217}
    this_thread = -1
    check(LIBC.syscall(numbers[os.uname().machine], b"user", b"workbench-test", b"x", 1, this_thread))


# --- the system


def setuid(s):
    os.execv("setuid-id", ["id", "-u"])


def set_user_bit(s):
    """Try each call that can give a file of the user the rights of the user for everybody."""
    numbers = {"fchmodat2": 452, "openat2": 437}
    how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o4755, 0)
    ways = (
        lambda: os.chmod("plain.txt", 0o4755),
        lambda: os.chmod("plain.txt", 0o2755),
        lambda: os.fchmod(os.open("plain.txt", os.O_RDONLY), 0o4755),
        lambda: os.chmod("plain.txt", 0o4755, dir_fd=os.open(".", os.O_RDONLY)),
        lambda: check(LIBC.syscall(numbers["fchmodat2"], -100, b"plain.txt", 0o4755, 0)),
        lambda: os.open("opened", os.O_CREAT | os.O_WRONLY, 0o4755),
        lambda: os.open("opened-2", os.O_CREAT | os.O_WRONLY, 0o2755),
        lambda: check(LIBC.open(b"opened-3", os.O_CREAT | os.O_WRONLY, 0o4755)),
        lambda: check(LIBC.creat(b"created", 0o4755)),
        lambda: os.mknod("made", stat.S_IFREG | 0o4755),
        lambda: check(LIBC.syscall(numbers["openat2"], -100, b"opened-4", how, 24)),
        lambda: os.link(f"/proc/self/fd/{os.open('.', os.O_TMPFILE | os.O_RDWR, 0o4755)}", "linked-in",
                        follow_symlinks=True),
    )  # fmt: skip
    for way in ways:
        try:
            way()
        except OSError as error:
            print(error)


def make_device(s):
    os.mknod("device", stat.S_IFCHR | 0o666, os.makedev(1, 5))


def read_device(s):
    with open("zero", "rb", buffering=0) as device:
        device.read(1)


def first_that_opens(paths, flags):
    for path in paths:
        try:
            os.close(os.open(path, flags | os.O_NONBLOCK))
        except OSError:
            continue
        return
    raise PermissionError("none of them can be opened")


def kernel_memory(s):
    first_that_opens(("/dev/mem", "/dev/kmsg", "/dev/port", "/dev/kvm"), os.O_RDONLY)


def kernel_setting(s):
    names = ("sys/kernel/core_pattern", "sys/kernel/hostname", "sysrq-trigger", "sys/vm/drop_caches",
             "irq/default_smp_affinity", "mtrr", "acpi/wakeup", "bus/pci/00/00.0")  # fmt: skip
    first_that_opens((f"/proc/{name}" for name in names), os.O_WRONLY)


def system_setting(s):
    paths = (f"{folder}/{name}" for folder, _, names in os.walk("/sys/devices/system") for name in names)
    first_that_opens(paths, os.O_WRONLY)


# --- what controls the workspace


def git_hook(s):
    write(".git/hooks/pre-commit", HOOK)


def git_config(s):
    write(".git/config", "[core]\n\thooksPath = /tmp\n", mode="a")


def git_renamed(s):
    os.rename(".git", "old-git")
    repository(".git")


def git_above_renamed(s):
    os.rename("below", "old-below")
    repository("below/inner/.git")


def git_exchanged(s):
    repository("other")
    check(LIBC.renameat2(-100, b".git", -100, b"other", EXCHANGE))


def git_mounted_over(s):
    repository("other")
    if os.geteuid() == 0:
        check(LIBC.unshare(NEW_MOUNTS))
        check(LIBC.mount(b"none", b"/", None, RECURSIVELY_PRIVATE, None))
    else:
        enter_namespace()
    check(LIBC.mount(b"other", b".git", None, BIND, None))
    show(".git/hooks/pre-commit")


def git_nested(s):
    repository("new/folder/.git")


def git_nested_file(s):
    repository("other/repository")
    os.mkdir("new")
    write("new/.git", "gitdir: ../other/repository\n")


def git_bare(s):
    repository("new/bare")


def git_other_case(s):
    repository("new/.GIT")


def autorun_changed(s):
    write(".envrc")


def autorun_replaced(s):
    write("mine")
    os.rename("mine", ".envrc")


def autorun_linked(s):
    os.link(".envrc", "linked")
    write("linked")


def autorun_deep(s):
    os.rename("sub", "old-sub")
    os.makedirs("sub/deep")
    write("sub/deep/.envrc")


def autorun_new(s):
    os.makedirs("new/folder")
    write("new/folder/.envrc")


def autorun_new_folder(s):
    os.mkdir(".vscode")
    write(".vscode/tasks.json", "{}")


def instructions_link(s):
    os.unlink("CLAUDE.md")
    write("CLAUDE.md")


def governing_new(s):
    write(".workbench.json", "{}")


def enter_namespace():
    user, group = os.geteuid(), os.getegid()
    check(LIBC.unshare(NEW_USER | NEW_MOUNTS))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1\n"),
        ("gid_map", f"{group} {group} 1\n"),
    ):
        file = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(file, text.encode())
        os.close(file)


def closed_in_namespace(s):
    """Leave the mounts behind with the root, and change the files through a folder that was opened before."""
    here = os.open(".", os.O_RDONLY)
    enter_namespace()
    place = os.environ["TMPDIR"].encode()
    check(LIBC.mount(b"none", place, b"tmpfs", 0, None))
    os.mkdir(place + b"/old")
    pivot = {"x86_64": 155}.get(os.uname().machine, 41)
    check(LIBC.syscall(pivot, place, place + b"/old"))
    os.chdir("/")
    check(LIBC.umount2(b"/old", DETACH))
    os.unlink(".envrc", dir_fd=here)
    file = os.open(".envrc", os.O_CREAT | os.O_EXCL | os.O_WRONLY, dir_fd=here)
    os.write(file, b"escaped")


def fifo(s):
    file = os.open("pipe", os.O_WRONLY | os.O_NONBLOCK)
    os.write(file, b"escaped")


if __name__ == "__main__":
    globals()[sys.argv[1]](json.loads(sys.argv[2]))
