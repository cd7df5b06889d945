"""A stand-in for another machine: steps run in another folder, under another user where that is allowed.

What runs there outlives the driver that started it. A job is known by its attempt; its end is a file.
"""

import asyncio
import contextlib
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

from msgspec.structs import replace

from workbench.domain.step_messages import StepEvent
from workbench.pipelines.executor import AttemptNotReady, StepMachine
from workbench.pipelines.step_process import ProcessEnd, ProcessLost

NOBODY = 65534
JOB = """\
cd {folder} || exit 1
{command} < {job}/in > {job}/out 2> {job}/err
echo $? > {job}/ended
mv {job}/ended {job}/code
"""


def user():
    """Return whom steps run as: somebody else where this process may choose."""
    return NOBODY if os.geteuid() == 0 else os.geteuid()


class Elsewhere:
    """Has the workspaces of a run there, and runs its programs there."""

    def __init__(self, here, folder, *, dies=False):
        self.folder, self.dies, self.found = str(folder), dies, []
        self.files, self.base = here.workspaces, here.workspaces.workspaces.base
        self.files = replace(
            self.files, blobs=Sent(self.files.blobs),
            workspaces=replace(self.files.workspaces, base=f"{folder}/w"),
        )  # fmt: skip
        self.machine = StepMachine(workspaces=self, processes=self)

    def there(self, path, in_project):
        """Return what a workspace is called there; the project itself is only here."""
        return path if in_project else f"{self.folder}/w{path.removeprefix(self.base)}"

    def sent(self, plan):
        path, folder = (self.there(path, plan.in_project) for path in (plan.path, plan.folder))
        return replace(plan, path=path, folder=folder)

    # --- workspaces ---------------------------------------------------------------------------------

    async def prepare(self, plan):
        notes = await self.files.prepare(self.sent(plan))
        if not plan.in_project:
            hand_over(self.sent(plan).path)
        return notes

    def local_folder(self, spec):
        return self.there(spec.workspace, spec.in_project)

    async def write_aggregate(self, spec):
        return await self.files.write_aggregate(replace(spec, workspace=self.local_folder(spec)))

    async def collect(self, plan, outcome):
        return await self.files.collect(self.sent(plan), outcome)

    async def check(self, plan, contract):
        return await self.files.check(self.sent(plan), contract)

    async def read_reviewed(self, plan, contract):
        return await self.files.read_reviewed(self.sent(plan), contract)

    # --- processes ----------------------------------------------------------------------------------

    def place(self, step):
        return Path(self.folder, "jobs", hashlib.sha256(str(step).encode()).hexdigest()[:16])

    async def start(self, job):
        if job.sandbox not in (None, "outside"):
            raise AttemptNotReady("the other machine has no sandbox")
        place = self.place(job.id)
        place.mkdir(parents=True)
        (place / "in").write_bytes(job.stdin)
        (place / "script").write_text(
            JOB.format(
                folder=shlex.quote(self.there(job.folder, job.in_project)), command=shlex.join(job.argv),
                job=shlex.quote(str(place)),
            )
        )  # fmt: skip
        hand_over(place)
        return ThereProcess(place, job, dies=self.dies)

    async def find(self, step, started):
        place = self.place(step)
        if not (place / "pid").exists():
            shutil.rmtree(place, ignore_errors=True)
            return None
        self.found.append(str(step))
        return ThereProcess(place)

    def leave(self):
        pass  # what runs there continues in any case


class Sent:
    """Bytes sent to the journal and read from it in messages, the only way to it from another machine."""

    def __init__(self, blobs):
        self.seal = lambda data: blobs.seal(bytes(data))
        self.unseal = lambda ref: blobs.unseal(str(ref))
        self.keyed = lambda data: blobs.keyed(bytes(data))


class ThereProcess:
    """A process that is known by its folder."""

    started = StepEvent(kind="progress")

    def __init__(self, place, job=None, *, dies=False):
        self.place, self.job, self.dies = place, job, dies

    def abandon(self):
        shutil.rmtree(self.place)

    async def follow(self, on_output, on_stdout, stop):
        if self.job is not None:
            begin(self.place, self.job.environment)
            if self.dies:
                os._exit(137)
        await self.ended(stop)
        on_output((self.place / "err").read_bytes())
        (on_stdout or on_output)((self.place / "out").read_bytes())
        if (self.place / "code").exists():
            return ProcessEnd(code=int((self.place / "code").read_text()), stopped=stop.is_set())
        if stop.is_set():
            return ProcessEnd(stopped=True)
        raise ProcessLost(f"it was lost there: {(self.place / 'log').read_text()[-300:]}")

    async def ended(self, stop):
        stopping = asyncio.create_task(stop.wait())
        stopping.add_done_callback(lambda task: task.cancelled() or end(self.place))
        try:
            await process_end(int((self.place / "pid").read_text()))
        finally:
            stopping.cancel()


def begin(place, variables):
    """Begin a job in a session of its own, which nobody here has to be there for."""
    with (place / "log").open("w") as log:
        begun = subprocess.Popen(
            ["/bin/sh", str(place / "script")],
            start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=log, env={**os.environ, **variables}, user=user(), cwd="/",
        )  # fmt: skip
    (place / "pid").write_text(str(begun.pid))
    begun.returncode = 0  # reaped in `process_end`, or by whoever takes it over


def hand_over(path):
    os.chown(path, user(), -1)
    for folder, names, files in os.walk(path):
        for name in (*names, *files):
            os.chown(f"{folder}/{name}", user(), -1, follow_symlinks=False)


async def process_end(pid):
    """Wait for a process, one's own child or not."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(watched, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(watched)
        os.close(watched)
    reap(pid)


def reap(pid):
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def runs(job):
    """Whether a job's process is there and not only its remains."""
    try:
        state = Path(f"/proc/{(job / 'pid').read_text()}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def end(job):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(int((job / "pid").read_text()), signal.SIGKILL)
