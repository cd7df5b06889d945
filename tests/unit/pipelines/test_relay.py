"""Relay: a full conversation becomes a checkpoint by the summariser, and a fresh one goes on from it."""

import json

import pytest

from tests.support.chat_server import Answer, ChatServer, whole
from tests.unit.pipelines.projects import MANIFEST, PROMPTS
from workbench.agents.compaction import MAX_TRANSCRIPT, session_transcript
from workbench.domain.events import CallFinished, Event, PromptSubmitted, ReplyCompleted
from workbench.domain.values import Actor
from workbench.effects.clock import ManualClock
from workbench.pipelines import compaction
from workbench.pipelines.load import load_from_texts
from workbench.pipelines.model import Compaction, Manifest, Runtime, Step
from workbench.pipelines.step_agent import compaction_plan

RELAY = (
    MANIFEST + "  relay: {token_threshold_percent: 50, context_window: 1000, summarizer_persona: reader}\n"
)
STEP = """
  - id: a
    persona: builder
    exec: {type: prompt, source: "Write one.md and two.md."}
    output_artifacts: [{name: two, path: two.md}]
"""


def said(text="", *calls, tokens=100, when=None):
    reply = [{"text": text}] if text else []
    reply += [{"tool_call": {"id": i, "name": name, "arguments": given}} for i, name, given in calls]
    reply.append({"usage": {"input_tokens": tokens - 10, "output_tokens": 10}})
    return {"reply": reply, **({"when": when} if when else {})}


def write(path):
    return (f"c-{path}", "create_file", {"path": path, "content": f"{path}\n"})


def full(here, step="a", tokens=500):
    here.record(step, said("First one.", write("one.md"), tokens=tokens), said("Never asked."))


def moves(here, run):
    return [(b.state, b.session_id, b.detail) for s, b in here.bodies(run, "step.changed") if s == "a"]


def ollama_says(words, tokens, *calls):
    """Return a reply of Ollama to so many tokens."""
    made = [{"function": {"name": name, "arguments": given}} for _, name, given in calls]
    reply = {"message": {"role": "assistant", "content": words, "tool_calls": made}, "done": True}
    said = json.dumps({**reply, "done_reason": "stop", "prompt_eval_count": tokens, "eval_count": 10})
    return Answer([said.encode() + b"\n"], headers={"Content-Type": "application/x-ndjson"})


def test_a_conversation_is_full_by_the_context_that_an_ollama_server_tells_of_its_model(runs):
    here = runs()
    routes = {
        "/api/show": whole({"model_info": {"qwen.context_length": 8_192}}), "/api/ps": whole({}),
    }  # fmt: skip
    answers = (ollama_says("", 7_000, write("one.md")), ollama_says("two.md is left.", 100))
    last = (ollama_says("", 100, write("two.md")), ollama_says("Done.", 100))
    with ChatServer(*answers, *last, routes=routes) as server:
        provider = {"kind": "ollama", "base_url": server.base_url.removesuffix("/v1"), "model": "qwen"}
        config = {"default_provider": "o", "providers": {"o": provider}}
        (here.home.path / "config.json").write_text(json.dumps(config))
        row = here.drive(here.request(here.pipeline(STEP), grants=("Write(*)",)))
    assert row.status == "completed", row.error_message
    told = [detail for _, _, detail in moves(here, row.pipeline_id) if "the context is full" in detail]
    assert len(told) == 1 and "7,010 of 6,553 tokens" in told[0]


@pytest.mark.spec(95, 117, 226)
def test_a_full_conversation_goes_on_from_a_checkpoint(runs):
    here = runs(manifest=RELAY)
    full(here)
    here.record("a.checkpoint", said("one.md is there; two.md is left."))
    here.record(
        "a.relay-1",
        said("Now two.", write("two.md"), when={"prompt_contains": "two.md is left"}),
        said("Done."),
    )
    row = here.drive(here.request(here.pipeline(STEP), grants=("Write(*)",)))
    run = row.pipeline_id
    assert row.status == "completed", row.error_message
    states = [state for state, _, _ in moves(here, run)]
    assert states == ["running", "waiting", "running", "waiting", "running", "completed"]
    assert "the context is full: 500 of 500 tokens" in moves(here, run)[1][2]
    sessions = [here.journal.session(session) for _, session, _ in moves(here, run) if session]
    assert [one.status for one in sessions] == ["completed"] * 3
    assert len({one.id for one in sessions}) == 3
    first = [e.body.text for e in here.journal.events(sessions[1].id) if isinstance(e.body, PromptSubmitted)]
    assert "USER: Write one.md and two.md." in first[0]
    assert "TOOL create_file one.md: succeeded" in first[0]
    assert here.journal.session(sessions[1].id).system_prompt == "You read.\n"
    stored = {body.name: body for _, body in here.bodies(run, "artifact.stored")}
    assert here.journal.blobs.read(stored["checkpoint"].content_ref) == b"one.md is there; two.md is left."
    assert "two" in stored
    step = here.step(run, "a")
    assert (step.attempt, step.retry_count, step.usage.total_tokens) == (1, 0, 500 + 100 + 200)
    assert row.usage.total_tokens == 800


def test_below_the_threshold_nothing_is_relayed(runs):
    here = runs(manifest=RELAY)
    here.record("a", said("One.", write("two.md"), tokens=499), said("Done."))
    row = here.drive(here.request(here.pipeline(STEP), grants=("Write(*)",)))
    assert [state for state, _, _ in moves(here, row.pipeline_id)] == ["running", "completed"]


def test_a_summariser_may_use_no_tool_and_has_to_say_something(runs):
    here = runs(manifest=RELAY)
    full(here)
    here.record("a.checkpoint", said("", write("spy.md")), said("", when={"tool_result": {"id": "c-spy.md"}}))
    row = here.drive(here.request(here.pipeline(STEP), grants=("Write(*)",)))
    assert row.status == "failed"
    assert "no checkpoint was written" in row.error_message
    assert not list(here.home.path.glob("workspaces/*/a/spy.md"))


def test_a_conversation_that_is_always_full_is_given_up(runs):
    here = runs(manifest=RELAY)
    full(here)
    here.record("a.checkpoint", said("Nothing is done."))
    for number in range(1, compaction.MOST_COMPACTIONS + 1):
        full(here, f"a.relay-{number}", tokens=600)
    row = here.drive(here.request(here.pipeline(STEP), grants=("Write(*)", "Edit(*)")))
    assert row.status == "failed"
    assert f"full {compaction.MOST_COMPACTIONS + 1} times" in row.error_message


def test_a_relayed_step_that_asks_parks_and_goes_on(runs):
    here = runs(manifest=RELAY)
    here.record("a", said("Look.", ("c", "read_file", {"path": "gone"}), tokens=700), said("Never."))
    here.record("a.checkpoint", said("Write both."))
    here.record("a.relay-1", said("Two.", write("two.md")), said("Done."))
    run = here.drive(here.request(here.pipeline(STEP), grants=("Read",))).pipeline_id
    (action,) = here.waiting(run)
    assert action.target == "two.md"
    here.answer(run)
    row = here.drive(run)
    assert (row.status, row.usage.total_tokens) == ("completed", 700 + 100 + 200)


# --- who and when -------------------------------------------------------------------------------

PERSONAS = {"summarizer": None, "x": None}


@pytest.mark.parametrize(
    ("own", "runtime", "personas", "found"),
    [
        (None, Runtime(), {}, (80, 0, "")),
        (None, Runtime(), PERSONAS, (80, 0, "summarizer")),
        (None, Runtime(relay_percent=60, context_window=9, summarizer="x"), PERSONAS, (60, 9, "x")),
        (Compaction(percent=40, persona="y"), Runtime(relay_percent=60), PERSONAS, (40, 0, "y")),
        (Compaction(percent=40, persona=""), Runtime(), PERSONAS, (40, 0, "summarizer")),
    ],
)
@pytest.mark.spec(226)
def test_a_steps_own_compaction_overrides_the_manifests(own, runtime, personas, found):
    manifest = Manifest(name="m", runtime=runtime, personas=personas)
    one = compaction_plan(Step(id="s", line=1, compaction=own), manifest)
    assert (one.percent, one.window, one.persona) == found


@pytest.mark.parametrize("trigger", ["token_limit_0%", "token_limit_101%", "sometimes"])
def test_a_trigger_that_is_none_is_refused(trigger):
    text = f"""
kind: WavePipeline
metadata: {{name: p}}
steps:
  - id: a
    persona: builder
    exec: {{type: prompt, source: x}}
    handover: {{compaction: {{trigger: "{trigger}"}}}}
"""
    from workbench.pipelines.documents import FrozenFiles

    _, _, report = load_from_texts(text, MANIFEST, FrozenFiles(dict(PROMPTS)), ("p.yaml", "wave.yaml"))
    assert [(p.code, p.line) for p in report.errors] == [("wrong_value", 8)]


def test_a_long_conversation_keeps_its_beginning_and_its_end():
    clock = ManualClock(1)

    def event(body):
        return Event(
            id=clock.new_id(), session_id="s", at=1, actor=Actor(kind="agent"), body=body, call_id="c"
        )

    bodies = [
        PromptSubmitted(text="the task"),
        *(ReplyCompleted(text=f"{n} " + "x" * 50_000) for n in range(9)),
    ]
    text = session_transcript(
        [event(body) for body in (*bodies, CallFinished(state="succeeded", preview="y" * 9_000))]
    )
    assert len(text) < MAX_TRANSCRIPT + 100
    assert text.startswith("USER: the task")
    assert "characters left out" in text
    assert text.endswith("y …")
