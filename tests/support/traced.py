"""Run commands in a throw-away folder under strace and report the programs that ran and the paths that were written.

`python -m tests.support.traced` reads a list of jobs from standard input and prints a list of outcomes, so that one
network namespace serves many runs. `run_all` starts it, without a network where that is possible.
"""

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec import json as codec

CHECKOUT: Final = Path(__file__).resolve().parents[2]
_CALLS: Final = (
    "execve,execveat,open,openat,openat2,creat,truncate,unlink,unlinkat,rmdir,rename,renameat,renameat2,link,linkat,"
    "symlink,symlinkat,mkdir,mkdirat,mknod,mknodat,chmod,fchmodat,chown,lchown,fchownat,setxattr,lsetxattr,chdir,fchdir"
)
_LINE: Final = re.compile(r"(?P<pid>\d+) +(?P<call>\w+)\((?P<rest>.*)\Z", re.DOTALL)
_TEXT: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_AT: Final = re.compile(r"(?:AT_FDCWD|\d+)<([^>]*)>, ")
_WRITES: Final = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC")
_TRIED: Final = ("ENOENT", "ENOTDIR", "EACCES", "EROFS", "EPERM", "EISDIR")
_UNTOUCHED: Final = ("/dev/null", "/dev/tty", "/dev/pts/", "/dev/shm/sem.", "/dev/fd/", "/dev/std", "/proc/")


class Job(Struct, frozen=True, kw_only=True):
    """One command to run: its words, the folder that is copied for it and the seconds it may take."""

    argv: tuple[str, ...]
    template: str
    seconds: float = 10
    bytes: int = 4 << 20
    """The most that it may write into one file, or print."""


class Outcome(Struct, frozen=True, kw_only=True):
    """What one command did."""

    status: int
    ran: tuple[str, ...] = ()
    """Paths of the programs that were executed, or tried to be, after the command itself."""
    wrote: tuple[str, ...] = ()
    """Paths that were made, changed or removed, counted from the box where they are inside."""
    said: str = ""


def is_possible() -> bool:
    """Return whether this machine has an strace that may trace."""
    strace = shutil.which("strace")
    return strace is not None and _succeeds(strace, "-f", "-o", os.devnull, "true")


def run_all(jobs: Sequence[Job], box: Path, path: str) -> list[Outcome]:
    """Run each job in a folder of its own below `box`, with programs from `path`."""
    front = ["unshare", "-n", "-p", "-f", "--kill-child"]
    front = front if shutil.which("unshare") and _succeeds(*front, "true") else []
    done = subprocess.run(
        [*front, sys.executable, "-m", "tests.support.traced", str(box), path],
        input=codec.encode(jobs), cwd=CHECKOUT, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return codec.decode(done.stdout, type=list[Outcome])


def _succeeds(*argv: str) -> bool:
    with contextlib.suppress(OSError):
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    return False


# --- in the process that runs them -------------------------------------------------------------------


class _Box:
    def __init__(self, folder: Path, path: str) -> None:
        self.folder, self.path = folder, path
        self.template = ""

    def run(self, job: Job) -> Outcome:
        if job.template != self.template:
            self._fill(job.template)
        trace = self.folder / "trace"
        status, said = self._start(job, trace)
        if not trace.exists():
            raise RuntimeError(f"strace did not start {job.argv}: {said}")
        outcome = Outcome(status=status, said=said, **_read(trace, self.folder))
        trace.unlink()
        if outcome.wrote or outcome.ran or status < 0:
            self.template = ""
        return outcome

    def _fill(self, template: str) -> None:
        for name in ("work", "home", "tmp"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(template, self.folder / "work", symlinks=True)
        (self.folder / "home").mkdir()
        (self.folder / "tmp").mkdir()
        self.template = template

    def _start(self, job: Job, trace: Path) -> tuple[int, str]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (job.bytes, resource.RLIM_INFINITY))
        said = self.folder / "said"
        with said.open("wb") as output:
            child = subprocess.Popen(
                ["strace", "-f", "-y", "-qq", "-s", "4096", "--seccomp-bpf", "-e", f"trace={_CALLS}", "-e", "signal=none",
                 "-o", str(trace), "--", *job.argv],
                cwd=self.folder / "work", env=self._environment(), stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=job.seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        status = child.wait()
        with said.open("rb") as output:
            return status, output.read(300).decode(errors="replace")

    def _environment(self) -> dict[str, str]:
        home = self.folder / "home"
        nowhere = "http://127.0.0.1:9"
        toolchains = os.environ.get("RUSTUP_HOME", str(Path("~/.rustup").expanduser()))
        return {
            "PATH": f"{self.path}:{home}", "HOME": str(home), "TMPDIR": str(self.folder / "tmp"), "TERM": "dumb",
            "LC_ALL": "C.UTF-8", "USER": "tester", "LOGNAME": "tester", "http_proxy": nowhere, "https_proxy": nowhere,
            "HTTPS_PROXY": nowhere, "no_proxy": "127.0.0.1", "GIT_CONFIG_NOSYSTEM": "1", "RUSTUP_HOME": toolchains, "PIP_RETRIES": "0", "PIP_TIMEOUT": "1",
            "UV_HTTP_TIMEOUT": "1", "npm_config_fetch_retries": "0",
            "GRADLE_USER_HOME": str(home / ".gradle"),
        }  # fmt: skip


def _read(trace: Path, box: Path) -> dict[str, Any]:
    ran: dict[str, None] = {}
    wrote: dict[str, None] = {}
    folders = {"": str(box / "work")}
    for number, line in enumerate(trace.read_text(errors="replace").splitlines()):
        if (parts := _LINE.match(line)) is None:
            continue
        call, rest = parts["call"], parts["rest"]
        folder = folders.get(parts["pid"], folders[""])
        paths = list(_paths(call, rest, folder))
        if call in ("chdir", "fchdir"):
            if paths and " = -1 " not in rest:
                folders[parts["pid"]] = folders[""] = paths[0]
        elif call.startswith("exec"):
            if number:
                ran.update(dict.fromkeys(paths[:1]))
        elif _has_written(call, rest):
            made = paths[-1:] if "link" in call and not call.startswith("un") else paths
            wrote.update(dict.fromkeys(made))
    written = tuple(path for path in _inside(wrote, box) if not path.startswith(_UNTOUCHED))
    return {"ran": tuple(_inside(ran, box)), "wrote": written}


def _paths(call: str, rest: str, folder: str) -> Iterator[str]:
    if call == "fchdir":
        yield from re.findall(r"\A\d+<([^>]*)>", rest)
        return
    places = list(_AT.finditer(rest))
    shown = rest.split(", [", 1)[0] if call.startswith("exec") else rest
    for text in _TEXT.finditer(shown):
        before = [place[1] for place in places if place.end() == text.start()]
        name = text[1].encode("latin-1", "backslashreplace").decode("unicode_escape", errors="replace")
        yield os.path.normpath(Path(before[0] if before else folder) / name)


def _has_written(call: str, rest: str) -> bool:
    failed = re.search(r" = -1 (E\w+)", rest)
    if call in ("open", "openat", "openat2"):
        return any(flag in rest for flag in _WRITES) and (failed is None or failed[1] in _TRIED)
    return failed is None


def _inside(paths: Iterable[str], box: Path) -> Iterator[str]:
    for path in paths:
        yield path.removeprefix(f"{box}/")


def main() -> None:
    """Run the jobs that standard input lists."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    box = _Box(Path(sys.argv[1]).resolve(), sys.argv[2])
    box.folder.mkdir(parents=True, exist_ok=True)
    jobs = codec.decode(sys.stdin.buffer.read(), type=list[Job])
    sys.stdout.buffer.write(codec.encode([box.run(job) for job in jobs]))


if __name__ == "__main__":
    main()
