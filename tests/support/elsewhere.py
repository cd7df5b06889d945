"""A stand-in for another machine: steps run in another folder, under another user where that is allowed.

What runs there outlives the driver that started it. A job is known by its attempt; its end is a file.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import shlex
import signal
import subprocess
from pathlib import Path

from msgspec.structs import replace

from workbench.domain.step_messages import StepEvent, StepOutcome
from workbench.formats.agent_output import agent_answer
from workbench.host.steps.step_executor import adapter_command_line, adapter_stdin
from workbench.pipelines.step_files import StepFiles

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
    """Runs commands and adapters there; agents of this program and pipelines stay here."""

    def __init__(self, here, folder, *, dies=False):
        self.here, self.folder, self.dies = here, str(folder), dies
        self.answers, self.attached = [], []
        self.files = StepFiles(
            journal=here.journal, workspaces=replace(here.workspaces, base=f"{folder}/w"), files=here.files
        )

    def there(self, path):
        """Return what a workspace is called there; the project itself is only here."""
        base = self.here.workspaces.base
        return f"{self.folder}/w{path.removeprefix(base)}" if path.startswith(base) else path

    def sent(self, plan):
        return replace(plan, path=self.there(plan.path), folder=self.there(plan.folder))

    def sent_spec(self, spec):
        return replace(spec, workspace=self.there(spec.workspace))

    async def prepare(self, plan):
        notes = await self.files.prepare(self.sent(plan))
        if self.there(plan.path) != plan.path:
            hand_over(self.there(plan.path))
        return notes

    async def collect(self, plan, outcome):
        return await self.files.collect(self.sent(plan), outcome)

    async def check(self, plan, contract):
        return await self.files.check(self.sent(plan), contract)

    async def read_reviewed(self, plan, contract):
        return await self.files.read_reviewed(self.sent(plan), contract)

    def is_mine(self, spec):
        return spec.kind == "command" or bool(spec.adapter)

    def opening(self, spec):
        return () if self.is_mine(spec) else self.here.opening(self.sent_spec(spec))

    async def answer(self, step, action_id, decision):
        self.answers.append((str(step), action_id, decision.verdict, decision.reason))
        await self.here.answer(step, action_id, decision)

    async def cancel(self, step):
        for job in self.jobs(step):
            end(job)
        await self.here.cancel(step)

    async def reattach(self, step, process, session_id):
        jobs = self.jobs(step)
        if any((job / "code").exists() or runs(job) for job in jobs):
            self.attached.append(str(step))
            return True
        for job in jobs:
            end(job)
        return await self.here.reattach(step, process, session_id)

    async def run(self, spec, on_event):
        if not self.is_mine(spec):
            return await self.here.run(self.sent_spec(spec), on_event)
        job = self.job(spec)
        if not job.exists():
            start(job, spec, self.there(spec.workspace))
        await on_event(StepEvent(kind="progress"))
        if self.dies:
            os._exit(137)
        return await self.ended(spec, job)

    def jobs(self, step):
        return sorted(Path(self.folder, "jobs").glob(f"{_digest(str(step))}.*"))

    def job(self, spec):
        """An attempt has several where contracts run commands or ask a reviewer."""
        return Path(self.folder, "jobs", f"{_digest(str(spec.id))}.{_digest(spec.title + spec.part)}")

    async def ended(self, spec, job):
        await process_end(int((job / "pid").read_text()))
        if not (job / "code").exists():
            log = (job / "log").read_text()[-300:]
            return StepOutcome(state="failed", reason=f"it was lost there: {log}")
        code, said = int((job / "code").read_text()), (job / "out").read_bytes()
        outcome = StepOutcome(
            state="failed" if code else "completed", exit_code=code, output=said.decode()[-2000:],
            reason=f"it ended with exit code {code}: {(job / 'err').read_text()[-300:]}" if code else "",
        )  # fmt: skip
        if spec.adapter and not code:
            answer = agent_answer([json.loads(said)])
            said = answer.reply.encode()
            outcome = replace(outcome, usage=answer.usage, reply=answer.reply)
        ref = self.here.journal.seal(said) if spec.keeps_output else None
        return replace(outcome, stdout_ref=ref, stdout_bytes=len(said))


def start(job, spec, folder):
    """Begin a job in a session of its own, which nobody here has to be there for."""
    job.mkdir(parents=True)
    words = adapter_command_line(spec) if spec.adapter else ["/bin/sh", "-c", spec.source]
    (job / "in").write_bytes(adapter_stdin(spec) if spec.adapter else b"")
    (job / "script").write_text(
        JOB.format(folder=shlex.quote(folder), command=shlex.join(words), job=shlex.quote(str(job)))
    )
    hand_over(job)
    environment = {**os.environ, **({} if spec.adapter else spec.environment)}
    with (job / "log").open("w") as log:
        begun = subprocess.Popen(
            ["/bin/sh", str(job / "script")],
            start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=log, env=environment, user=user(), cwd="/",
        )  # fmt: skip
    (job / "pid").write_text(str(begun.pid))
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


def _digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]
