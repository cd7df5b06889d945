"""What a program prints on any machine is kept nowhere in clear, however it comes up."""

import asyncio
import json

import pytest
from msgspec.structs import replace

from tests.unit.pipelines.projects import MANIFEST
from workbench.domain.codec import event_to_line
from workbench.domain.events import ContractChecked, OutputStreamed
from workbench.domain.step_messages import StepEvent
from workbench.domain.values import SandboxRefusal
from workbench.host import stream_scrubber
from workbench.pipelines.executor import AttemptNotReady, CheckedContract, StepMachine, StepResults
from workbench.pipelines.step_process import ProcessEnd, ProcessLost

TOKEN = "ghp_" + "a1B2" * 9
LINE = f"export KEY={TOKEN} # for later\n"


class Leaking:
    """A machine on which each step does what its command names, with the token in it; nothing really runs."""

    started = StepEvent(kind="progress")

    def __init__(self, here, ways):
        self.files, self.ways, self.job = here.workspaces, ways, None
        self.machine = StepMachine(workspaces=self, processes=self)

    async def start(self, job):
        if job.argv[-1] == "never":
            raise AttemptNotReady(f"it cannot start: {LINE}")
        process = Leaking.__new__(Leaking)
        process.__dict__.update(self.__dict__, job=job)
        return process

    async def find(self, step, started):
        return None

    def leave(self): ...

    def abandon(self): ...

    async def follow(self, on_output, on_stdout, stop):
        way = self.ways.get(self.job.argv[-1]) or self.ways[self.job.id.step]  # by command, or of an agent
        return await way(on_output, on_stdout)

    # --- workspaces ---------------------------------------------------------------------------------

    def local_folder(self, spec):
        return None

    async def prepare(self, plan):
        if plan.id.step == "unready":
            raise AttemptNotReady(LINE)
        return (LINE,)

    async def collect(self, plan, outcome):
        if plan.id.step == "missing":
            return StepResults(missing=(LINE,))
        return replace(await self.files.collect(plan, outcome), left_out=(LINE,))

    async def check(self, plan, contract):
        event = ContractChecked(
            contract=contract.written_type, outcome="failed", source=LINE, problems=(LINE,)
        )
        return CheckedContract(event=replace(event, repairs=(LINE,), summary=LINE))


DONE = ProcessEnd(code=0)


def printing(size, name="on_stdout", *, end=DONE, text=LINE):
    """Return a program that prints in pieces of a size, each of them shown before the next one comes."""

    async def follow(on_output, on_stdout):
        feed = on_stdout or on_output
        for start in range(0, len(text), size):
            (feed if name == "on_stdout" else on_output)(text[start : start + size].encode())
            for _ in range(3):
                await asyncio.sleep(0)
        if isinstance(end, Exception):
            raise end
        return end

    return follow


REFUSED = SandboxRefusal(kind="closed", target=LINE, remark=LINE)
WAYS = {
    **{f"out{size}": printing(size) for size in (1, 3, 10, 17, 99)},
    **{f"err{size}": printing(size, "on_output") for size in (1, 7, 99)},
    "failing": printing(5, "on_output", end=ProcessEnd(code=3)),
    "killed": printing(9, end=ProcessEnd(signal=9)),
    "unfinished": printing(4, text=LINE.rstrip()[:-12], end=ProcessEnd(code=1)),
    "lost": printing(6, end=ProcessLost(f"its log ends with {LINE}")),
    "late": printing(50, text="", end=AttemptNotReady(LINE)),
    "boxed": printing(8, text="", end=ProcessEnd(code=1, boxed_folder="/w", refusals=(REFUSED,))),
    "never": None,
}


def kept(here, run):
    """Return everything that the home keeps of a run but exact bytes, which are sealed by design."""
    sealed = here.home.blobs / "sealed"
    files = [path for path in here.home.path.rglob("*") if path.is_file() and sealed not in path.parents]
    events = [event for row in here.journal.sessions() for event in here.journal.events(row.id)]
    lines = [event_to_line(event) for event in events]
    streams = {}  # in each event a piece: what is hidden in each has to be hidden in all of them
    for event in events:
        if isinstance(event.body, OutputStreamed):
            streams[f"stream {event.step}"] = streams.get(f"stream {event.step}", "") + event.body.text
    texts = {**dict(zip(lines, lines, strict=True)), **streams}
    return {
        **{str(path): path.read_bytes() for path in files},
        **{name: text.encode() for name, text in texts.items()},
    }


def leaks(here, run):
    return [
        name for name, data in kept(here, run).items() if TOKEN.encode() in data or TOKEN[9:].encode() in data
    ]


@pytest.fixture
def at_once(monkeypatch):
    """Have each piece of an output shown before the next one."""
    monkeypatch.setattr(stream_scrubber, "DELTA_INTERVAL_SECONDS", 0.0)


def step(name, command, more=""):
    return f"  - {{id: {name}, exec: {{type: command, source: {command}}}{more}}}\n"


def test_what_programs_print_is_kept_nowhere_in_clear(runs, at_once):
    here = runs()
    steps = "".join(step(name, name, ", retry: {on_failure: continue}") for name in WAYS)
    steps += step("kept", "out10", ", output_artifacts: [{name: k, source: stdout}]")
    steps += step("unready", "out1") + step("missing", "out1")
    steps += step("checked", "out1", ", handover: {contract: {type: non_empty_file, source: a}}")
    steps += step("suite", "out1", ", handover: {contract: {type: test_suite, command: failing}}")
    run = here.request(here.pipeline(steps))
    row = here.drive(run, machine=lambda machine: Leaking(machine, WAYS).machine)
    states = here.states(run)
    assert (row.status, states["lost"], states["kept"]) == ("waiting", "waiting", "completed")
    assert {states[name] for name in ("unready", "missing", "checked", "suite")} == {"failed"}
    assert "secret" in here.step(run, "failing").error_message
    assert leaks(here, run) == []
    # The artifact itself is what was printed: sealed, byte for byte.
    (stored,) = [body for _, body in here.bodies(run, "artifact.stored")]
    assert here.journal.blobs.read(stored.content_ref) == LINE.encode()


ANSWERS = {
    "result": [{"type": "result", "result": LINE}],
    "error": [{"type": "result", "is_error": True, "result": LINE}],
    "none": [LINE],
    "told": [
        {"type": "system", "subtype": "init", "session_id": "c1", "model": "m", "tools": []},
        {"type": "assistant", "session_id": "c1", "message": {
            "id": "m1", "role": "assistant", "model": "m", "content": [
                {"type": "text", "text": LINE},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": LINE}}]}},
        {"type": "user", "session_id": "c1", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": LINE}]}},
        {"type": "result", "session_id": "c1", "result": LINE},
    ],
}  # fmt: skip


@pytest.mark.parametrize("size", [1, 11, 10_000])
def test_what_other_agents_answer_is_kept_nowhere_in_clear(runs, at_once, size):
    texts = {
        name: "".join(line if isinstance(line, str) else f"{json.dumps(line)}\n" for line in lines)
        for name, lines in ANSWERS.items()
    }
    ways = {name: printing(size, text=text) for name, text in texts.items()}
    here = runs(manifest=MANIFEST.replace("binary: workbench", "binary: x\n    args: ['{prompt}']"))
    steps = "".join(
        f"  - {{id: {name}, persona: builder, thread: {name}, exec: {{type: prompt, source: {name}}}}}\n"
        for name in ways
    )
    run = here.request(here.pipeline(steps))
    here.drive(run, machine=lambda machine: Leaking(machine, ways).machine)
    assert here.states(run)["result"] == "completed"
    assert leaks(here, run) == []
