"""What an adapter's program prints while it works is its step's session: calls, words, tokens, cost."""

import asyncio
import json
import os
import sys

import pytest
from msgspec.structs import replace

from tests.unit.pipelines.projects import MANIFEST
from workbench.cli.console import status_icons_for
from workbench.cli.pipeline_output import run_line, step_line
from workbench.config.model_prices import listed_price
from workbench.domain import events as e
from workbench.domain.step_messages import StepEvent
from workbench.formats import records as r
from workbench.formats.agent_output import AgentOutput
from workbench.pipelines.executor import StepMachine
from workbench.pipelines.step_process import ProcessEnd

CLAUDE = [
    {"type": "system", "subtype": "init", "session_id": "c1", "cwd": "/w", "model": "small-2", "tools": []},
    {
        "type": "assistant", "session_id": "c1",
        "message": {
            "id": "m1", "role": "assistant", "model": "small-2",
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 3},
            "content": [
                {"type": "text", "text": "I look first."},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/w/a.py"}},
            ],
        },
    },
    {"type": "WAIT"},
    {
        "type": "user", "session_id": "c1",
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "no such file"},
        ]},
    },
    {
        "type": "assistant", "session_id": "c1",
        "message": {
            "id": "m2", "role": "assistant", "model": "small-2", "usage": {"input_tokens": 5, "output_tokens": 1},
            "content": [{"type": "tool_use", "id": "t2", "name": "Write",
                         "input": {"file_path": "b.py", "content": "key = 'ghp_" + "a1B2" * 9 + "'\n"}}],
        },
    },
    {
        "type": "user", "session_id": "c1",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "ok"}]},
    },
    {
        "type": "result", "subtype": "success", "is_error": False, "session_id": "c1", "result": "All done.",
        "total_cost_usd": 0.0123,
        "usage": {"input_tokens": 20, "cache_read_input_tokens": 90, "output_tokens": 9},
    },
]  # fmt: skip
CODEX = [
    {"type": "thread.started", "thread_id": "x1"},
    {"type": "item.started", "item": {"id": "i1", "type": "command_execution", "command": "ls", "status": "in_progress"}},
    {"type": "WAIT"},
    {"type": "item.completed", "item": {"id": "i1", "type": "command_execution", "command": "ls",
                                        "aggregated_output": "a b", "exit_code": 2, "status": "failed"}},
    {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "All done."}},
    {"type": "turn.completed", "usage": {"input_tokens": 110, "cached_input_tokens": 90, "output_tokens": 9}},
]  # fmt: skip
GEMINI = [
    {"type": "init", "session_id": "g1", "model": "flash"},
    {"type": "message", "role": "user", "content": "not again"},
    {"type": "message", "role": "assistant", "content": "I ", "delta": True},
    {"type": "message", "role": "assistant", "content": "look.", "delta": True},
    {"type": "tool_use", "tool_name": "read_file", "tool_id": "r1", "parameters": {"path": "a"}},
    {"type": "WAIT"},
    {"type": "tool_result", "tool_id": "r1", "status": "error", "error": {"message": "no such file"}},
    {"type": "message", "role": "assistant", "content": "All done.", "delta": True},
    {"type": "result", "status": "success",
     "stats": {"input_tokens": 110, "output_tokens": 9, "cached": 90, "total_tokens": 119}},
]  # fmt: skip


def opencode(kind, **part):
    return {"type": kind, "timestamp": 1795262400000, "sessionID": "ses_1", "part": part}


def finished(sent, received, read):
    tokens = {"input": sent, "output": received, "reasoning": 0, "cache": {"read": read, "write": 0}}
    return opencode("step_finish", type="step-finish", reason="stop", cost=0.25, tokens=tokens)


FAILED = {
    "status": "error", "input": {"filePath": "a"}, "error": "no such file",
    "time": {"start": 1795262400000, "end": 1795262400050},
}  # fmt: skip
OPENCODE = [  # it tells of a round of its model when that is over
    opencode("step_start", type="step-start"),
    opencode("tool_use", type="tool", callID="c1", tool="read", state=FAILED),
    finished(10, 4, 90),
    {"type": "WAIT"},
    opencode("text", type="text", text="All done."),
    finished(10, 5, 0),
]


def droid(kind, **more):
    return {"type": kind, "session_id": "d1", "timestamp": 1795262400000, **more}


DROID = [  # begins as Claude Code does
    droid("system", subtype="init", cwd="/w", model="big", tools=[], reasoning_effort="low"),
    droid("reasoning", id="r", text="hm"),
    droid("message", role="user", id="u", text="not again"),
    droid("message", role="assistant", id="m", text="I look."),
    droid("tool_call", id="a", messageId="m", toolId="Read", toolName="Read", parameters={"file_path": "a"}),
    {"type": "WAIT"},
    droid("tool_result", id="a", messageId="m", toolId="Read", isError=True, value="Error: no such file"),
    droid("message", role="assistant", id="n", text="All done."),
    droid("completion", finalText="All done.", numTurns=2, durationMs=5,
          usage={"input_tokens": 20, "output_tokens": 9, "cache_read_input_tokens": 90}),
]  # fmt: skip
PROGRAM = f"""#!{sys.executable}
import json, sys, time
lines = {{lines!r}}
for line in lines:
    if line.get("type") == "WAIT":
        open(sys.path[0] + "/go").read()   # a pipe: goes on when somebody has seen what came before
    else:
        print(json.dumps(line), flush=True)
{{more}}
"""
STEPS = """
  - id: a
    persona: outside
    exec: {type: prompt, source: "do it"}
    output_artifacts: [{name: said, source: stdout}]
"""


def working(runs, tmp_path, lines, name, more=""):
    """Return a run's project whose adapter prints these lines, and what lets it go on."""
    program = tmp_path / name
    program.write_text(PROGRAM.format(lines=lines, more=more))
    program.chmod(0o755)
    os.mkfifo(tmp_path / "go")
    manifest = MANIFEST.replace(
        "personas:\n",
        f"  other: {{binary: {program}, mode: headless}}\n"
        "personas:\n  outside: {adapter: other, system_prompt_file: prompts/builder.md}\n",
    )
    return runs(manifest=manifest)


class Watcher:
    """Notes events and lets the program go on as soon as its first call is seen."""

    def __init__(self, pipe):
        self.pipe, self.seen = pipe, []

    def __call__(self, events):
        was_running = any(isinstance(event.body, e.CallExecuting) for event in self.seen)
        self.seen += events
        is_running = any(isinstance(event.body, e.CallExecuting) for event in events)
        if is_running and not was_running:
            self.pipe.write_text("go on")


def kinds(events, *wanted):
    return [event.body for event in events if isinstance(event.body, wanted)]


@pytest.mark.spec(81, 114)
@pytest.mark.parametrize(
    ("name", "lines", "calls", "model"),
    [
        ("claude", CLAUDE, [("Read", "failed"), ("Write", "succeeded")], "small-2"),
        ("codex", CODEX, [("shell", "failed")], ""),
        ("gemini", GEMINI, [("read_file", "failed")], "flash"),
        ("opencode", OPENCODE, [("read", "failed")], ""),
        ("droid", DROID, [("Read", "failed")], "big"),
    ],
)
def test_what_a_program_does_is_seen_while_it_does_it(runs, tmp_path, name, lines, calls, model):
    here = working(runs, tmp_path, lines, name)
    watcher = Watcher(tmp_path / "go")
    row = here.drive(here.request(here.pipeline(STEPS)), see=watcher)
    assert row.status == "completed"
    child = here.journal.session(here.step(row.pipeline_id, "a").session_id)
    assert (child.kind, child.status, child.parent_id, child.provider, child.model) == (
        "step", "completed", row.pipeline_id, "other", model,
    )  # fmt: skip
    assert [(call.tool, call.state) for call in here.journal.calls(child.id)] == calls
    assert child.usage.total_tokens == row.usage.total_tokens == 119
    assert child.usage.cache_read_tokens == 90
    events = here.journal.events(child.id)
    assert [body.text for body in kinds(events, e.PromptSubmitted)] == ["do it"]
    assert [body.text for body in kinds(events, e.ReplyCompleted) if body.text][-1] == "All done."
    assert {event.step for event in events} >= {"p #1 · a"}
    (said,) = [b for _, b in here.bodies(row.pipeline_id, "artifact.stored")]
    assert here.journal.blobs.read(said.content_ref) == b"All done."


STREAMS = {"claude": CLAUDE, "codex": CODEX, "gemini": GEMINI, "opencode": OPENCODE, "droid": DROID}
GARBAGE = [
    b"warning: an update is there", b'{"type": "assistant", "message": {', b"\x00\xff\xfe\x1b[2J", b"[1, 2]",
    b'"a text"', b"{" * 5_000, b'{"type": "nobody.knows", "n": 1e999}', b"NaN", b"", b"   ", "\u2028 \u202e".encode(),
]  # fmt: skip


def printed(lines, between=b""):
    return b"".join(
        json.dumps(line).encode() + b"\n" + between for line in lines if line.get("type") != "WAIT"
    )


def told(data, size):
    """Return what a program that printed some bytes told, fed in pieces, and the lines that were shown as they are."""
    output = AgentOutput()
    items = [item for at in range(0, len(data), size) for item in output.feed(data[at : at + size])]
    items += output.finish()
    records = [
        replace(item, line=0) if hasattr(item, "line") else item
        for item in items
        if not isinstance(item, bytes)
    ]
    return output.form, records, [item for item in items if isinstance(item, bytes)]


def gist(records):
    """Return what an agent said and did; unknown lines may stand between the pieces of what it said."""
    replies = [one for one in records if isinstance(one, r.Reply)]
    results = [(one.call, one.state) for one in records if isinstance(one, r.CallResult)]
    return "".join(one.text for one in replies), [call for one in replies for call in one.calls], results


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_says_the_same_in_pieces_of_any_size(name):
    data = printed(STREAMS[name])
    form, whole, shown = told(data, len(data))
    assert form.partition("-")[0] == name and len(whole) > 3 and shown == []
    assert all(told(data, size) == (form, whole, []) for size in (1, 7, 64, 1000))


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_is_cut_anywhere_tells_what_was_whole_and_shows_the_rest(name):
    data = printed(STREAMS[name])
    _, whole, _ = told(data, len(data))
    for cut in range(0, len(data), 13):
        form, records, shown = told(data[:cut], 50)
        ends = [data[:cut].rpartition(b"\n")[2]]
        if form.partition("-")[0] == name:
            assert records == whole[: len(records)] or name == "gemini"  # whose pieces are joined
            assert shown == [] or shown == ends or shown[-1:] == ends
        elif not form:
            assert b"\n".join(shown) == data[:cut].removesuffix(b"\n")


@pytest.mark.parametrize("name", STREAMS)
def test_garbage_between_the_lines_of_a_stream_is_shown_and_hides_nothing(name):
    data = printed(STREAMS[name])
    _, whole, _ = told(data, len(data))
    lines = data.splitlines(keepends=True)
    dirty = b"".join(line + b"\n".join(GARBAGE) + b"\n" for line in lines)
    form, records, shown = told(dirty, 33)
    assert form.partition("-")[0] == name
    assert gist(records) == gist(whole)
    assert GARBAGE[0] in shown and GARBAGE[1] in shown and b"{" * 5_000 in shown


def test_garbage_between_its_lines_fails_no_step(runs, tmp_path):
    lines = [line for line in CLAUDE if line["type"] != "WAIT"]
    more = f"""
for line in {lines!r}:
    print(json.dumps(line)); sys.stdout.flush()
    for dirt in {GARBAGE!r}: sys.stdout.buffer.write(dirt + b"\\n")
"""
    here = working(runs, tmp_path, [], "claude", more=more)
    row = here.drive(here.request(here.pipeline(STEPS)))
    assert (row.status, row.usage.total_tokens) == ("completed", 119)
    child = here.step(row.pipeline_id, "a").session_id
    assert [call.state for call in here.journal.calls(child)] == ["failed", "succeeded"]
    (ended,) = [b for _, b in here.bodies(row.pipeline_id, "step.changed") if b.output]
    log = here.journal.blobs.read(ended.output_ref).decode()
    assert "an update is there" in log


def test_the_log_is_read_by_people_and_cost_and_diff_are_kept(runs, tmp_path):
    here = working(runs, tmp_path, CLAUDE, "claude", more="print('a word of its own')")
    row = here.drive(here.request(here.pipeline(STEPS)), see=Watcher(tmp_path / "go"))
    assert row.usage.cost_microdollars == 12_300
    assert here.step(row.pipeline_id, "a").usage.cost_microdollars == 12_300
    signs = status_icons_for("utf-8")
    told = (run_line(row, signs, here.journal.now()), step_line(here.step(row.pipeline_id, "a"), signs))
    assert all(" 119 tok $0.01" in line for line in told)
    log = [b.output for _, b in here.bodies(row.pipeline_id, "step.changed") if b.output][-1]
    assert log.splitlines() == [
        "I look first.", "→ Read /w/a.py", "  failed: no such file", "→ Write b.py", "a word of its own",
    ]  # fmt: skip
    child = here.step(row.pipeline_id, "a").session_id
    (changed,) = kinds(here.journal.events(child), e.FileChanged)
    assert (changed.path, changed.added) == ("b.py", 1)
    assert "ghp_a1B2" not in json.dumps([repr(event) for event in here.journal.events(child)])


def test_a_program_that_ends_in_the_middle_leaves_no_call_running(runs, tmp_path):
    here = working(runs, tmp_path, CLAUDE[:3], "claude", more="sys.exit(9)")
    row = here.drive(here.request(here.pipeline(STEPS)), see=Watcher(tmp_path / "go"))
    assert row.status == "failed"
    child = here.journal.session(here.step(row.pipeline_id, "a").session_id)
    (call,) = here.journal.calls(child.id)
    assert (call.state, call.error) == ("interrupted", "its program ended before it told how this call ended")
    assert child.status == "terminated"


def test_a_program_continues_without_its_driver_and_the_next_one_follows_it(runs, tmp_path):
    here = working(runs, tmp_path, CODEX, "codex")
    run = here.request(here.pipeline(STEPS))

    def is_at_work(_):
        # By the journal alone: a driver looks again when that has changed.
        step = here.step(run, "a")
        session = step.session_id if step else None
        return bool(session and here.journal.calls(session, states=("executing",)))

    here.drive(run, until=is_at_work)
    session = here.step(run, "a").session_id
    (tmp_path / "go").write_text("go on")
    row = here.resume(run)
    assert row.status == "completed", row.error_message
    assert here.step(run, "a").session_id == session
    assert len(here.bodies(run, "process.started")) == 1, "it ran once"
    replies = kinds(here.journal.events(session), e.ReplyCompleted)
    assert [body.text for body in replies if body.text] == ["All done."]
    assert here.journal.session(session).status == "completed"


def test_what_is_no_stream_is_shown_as_it_is_and_its_answer_is_the_conversation(runs, tmp_path):
    answer = {"result": "All done.", "usage": {"input_tokens": 4, "output_tokens": 2}}
    here = working(runs, tmp_path, [answer], "program", more="print('warning: old', file=sys.stderr)")
    row = here.drive(here.request(here.pipeline(STEPS)))
    child = here.journal.session(here.step(row.pipeline_id, "a").session_id)
    replies = kinds(here.journal.events(child.id), e.ReplyCompleted)
    assert [body.text for body in replies if body.text] == ["All done."]
    assert child.usage.total_tokens == 6
    log = [b.output for _, b in here.bodies(row.pipeline_id, "step.changed") if b.output][-1]
    assert json.dumps(answer) in log
    assert "warning: old" in log


def test_what_no_program_told_is_priced_by_its_model(runs, tmp_path):
    lines = [dict(line) for line in GEMINI]
    lines[0]["model"] = "gemini-2.5-flash"
    here = working(runs, tmp_path, lines, "gemini")
    row = here.drive(here.request(here.pipeline(STEPS)), see=Watcher(tmp_path / "go"))
    price = listed_price("gemini-2.5-flash").at(0)
    assert row.usage.cost_microdollars == round(price.microdollars(row.usage)) > 0


TWICE = """
  - id: a
    persona: outside
    exec: {type: prompt, source: "do it"}
  - id: b
    dependencies: [a]
    persona: outside
    exec: {type: prompt, source: "and again"}
"""
TOLD = [
    {"result": "All done.", "total_cost_usd": 0.02, "usage": {"input_tokens": 100, "output_tokens": 19}},
]


def limited(runs, tmp_path, budget=0, **limits):
    """Return a project whose two steps are a program's, and its run until nothing goes on without a human."""
    here = working(runs, tmp_path, TOLD, "program")
    write_runtime(here, f"cost: {{budget_ceiling: {budget}}}" if budget else "")
    (here.home.path / "config.json").write_text(json.dumps({"limits": limits}))
    return here, here.request(here.pipeline(TWICE))


def write_runtime(here, member):
    manifest = (here.root / "wave.yaml").read_text()
    (here.root / "wave.yaml").write_text(f"{manifest}  {member}\n")
    here.trust()


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"budget": 0.02}, "$0.02 of $0.02 used in this run"),
        ({"budget": 0.019, "cost": {"run": 5}}, "$0.02 of $0.02 used in this run"),
        ({"budget": 9, "cost": {"run": 0.02}}, "$0.02 of $0.02 used in this run"),
        ({"tokens": {"run": 100}}, "119 of 100 tokens used in this run"),
        ({"tokens": {"day": 119}}, "119 of 119 tokens used today in all sessions"),
        ({"cost": {"run": 0.02}}, "$0.02 of $0.02 used in this run"),
        ({"cost": {"day": 0.02}}, "$0.02 of $0.02 used today in all sessions"),
    ],
    ids=str,
)
def test_what_programs_use_counts_and_the_next_one_asks_before_it_starts(runs, tmp_path, limits, words):
    here, run = limited(runs, tmp_path, **limits)
    assert here.drive(run).status == "waiting"
    assert here.states(run) == {"a": "completed", "b": "waiting"}
    (action,) = here.waiting(run)
    assert words in action.target and action.expires_at is None
    assert not here.journal.calls(here.step(run, "b").session_id)
    here.drive(run)  # another driver finds the same row
    assert [one.id for one in here.waiting(run)] == [action.id]
    here.answer(run)
    row = here.drive(run)
    assert (row.status, row.usage.total_tokens) == ("completed", 238)


PARTS = """
  - {id: first, pipeline: below.yaml, input: x}
  - {id: second, dependencies: [first], pipeline: below.yaml, input: x}
"""
ONE = """
  - id: a
    persona: outside
    exec: {type: prompt, source: "do it"}
"""


@pytest.mark.parametrize(
    "limits", [{"tokens": {"run": 100}}, {"cost": {"run": 0.02}}, {"budget": 0.02}], ids=str
)
def test_the_limit_of_a_run_holds_for_the_pipelines_that_it_runs(runs, tmp_path, limits):
    here = working(runs, tmp_path, TOLD, "program")
    write_runtime(here, f"cost: {{budget_ceiling: {limits.pop('budget', 0)}}}")
    (here.home.path / "config.json").write_text(json.dumps({"limits": limits}))
    here.pipeline(ONE, name="below")
    run = here.request(here.pipeline(PARTS))
    assert here.drive(run).status == "waiting"
    assert here.states(run) == {"first": "completed", "second": "waiting"}
    (action,) = here.waiting(run)
    assert "used in this run" in action.target and action.subject["scope_id"] == run
    here.answer(run)
    row = here.drive(run)
    assert (row.status, here.states(run)["second"]) == ("completed", "completed")


def test_a_no_fails_the_step_and_starts_no_program(runs, tmp_path):
    here, run = limited(runs, tmp_path, tokens={"run": 100})
    here.drive(run)
    here.answer(run, "reject")
    row = here.drive(run)
    assert (row.status, row.usage.total_tokens) == ("failed", 119)
    why = here.bodies(run, "step.changed")[-1][1].detail
    assert "119 of 100 tokens used in this run (limits.tokens.run), and no more was allowed" in why


def test_a_no_to_more_than_the_budget_names_the_member_of_the_manifest(runs, tmp_path):
    here, run = limited(runs, tmp_path, budget=0.02)
    here.drive(run)
    here.answer(run, "reject")
    assert here.drive(run).status == "failed"
    why = here.bodies(run, "step.changed")[-1][1].detail
    assert "$0.02 of $0.02 used in this run (runtime.cost.budget_ceiling), and no more was allowed" in why


def test_a_program_without_a_price_never_reaches_the_budget(runs, tmp_path):
    here = working(runs, tmp_path, [{"result": "Done.", "usage": {"input_tokens": 100}}], "program")
    write_runtime(here, "cost: {budget_ceiling: 0.000001}")
    assert here.drive(here.request(here.pipeline(TWICE))).status == "completed"


def test_where_nobody_can_be_asked_the_step_fails(runs, tmp_path):
    here, run = limited(runs, tmp_path, tokens={"run": 100})
    assert here.drive(run, can_ask=False).status == "failed"
    assert "no more was allowed" in here.bodies(run, "step.changed")[-1][1].detail
    assert not here.waiting(run)


def test_a_limit_that_was_raised_withdraws_the_question_of_a_step(runs, tmp_path):
    here, run = limited(runs, tmp_path, tokens={"run": 100})
    here.drive(run)
    (action,) = here.waiting(run)
    (here.home.path / "config.json").write_text(json.dumps({"limits": {"tokens": {"run": 1_000}}}))
    assert here.drive(run).status == "completed"
    assert here.journal.action(action.id).state == "cancelled"


# --- another driver goes on with a program ------------------------------------------------------------------


class Split:
    """A machine whose program has printed a part when its driver goes, and all of it when the next one comes."""

    started = StepEvent(kind="progress")

    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, here):
        return StepMachine(workspaces=here.workspaces, processes=self)

    async def start(self, job):
        return self

    async def find(self, step, started):
        return self

    def leave(self): ...

    def abandon(self): ...

    async def follow(self, on_output, on_stdout, stop):
        on_stdout(self.parts[0])
        if len(self.parts) == 1:
            await asyncio.Event().wait()  # until its driver goes
        on_stdout(self.parts[1])
        return ProcessEnd(code=0)


@pytest.mark.parametrize("cut", [2, 4, 6])
def test_a_program_that_is_gone_on_with_is_told_and_counted_once(runs, cut):
    here = runs(manifest=MANIFEST.replace("binary: workbench", "binary: claude"))
    lines = [f"{json.dumps(line)}\n".encode() for line in CLAUDE if line["type"] != "WAIT"]
    first, rest = b"".join(lines[:cut]), b"".join(lines[cut:])
    run = here.request(here.pipeline("\n  - {id: a, persona: builder, exec: {type: prompt, source: go}}\n"))

    def has_replied(coordinator):
        session = coordinator.state.steps["a"].session_id
        return session is not None and bool(kinds(here.journal.events(session), e.ReplyCompleted))

    here.drive(run, machine=Split(first), until=has_replied)
    assert here.states(run)["a"] == "running"
    row = here.resume(run, machine=Split(first, rest))
    assert (row.status, row.error_message) == ("completed", "")
    events = here.journal.events(here.step(run, "a").session_id)
    told = [event.body.text for event in events if isinstance(event.body, e.ReplyCompleted)]
    assert len([text for text in told if text]) == len({text for text in told if text})
    assert told.count("I look first.") == 1 and told.count("All done.") == 1
    usage = here.step(run, "a").usage
    assert (usage.input_tokens, usage.output_tokens) == (110, 9)
    assert here.journal.session(here.step(run, "a").session_id).usage.output_tokens == 9
