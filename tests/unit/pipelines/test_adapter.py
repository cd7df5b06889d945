"""Agent steps by another program's command line: a small real program that answers JSON or JSON lines."""

import json
import resource
import sys

import pytest

from tests.unit.pipelines.projects import MANIFEST
from workbench.domain.step_messages import StepId, StepSpec
from workbench.host.steps.adapter_step import adapter_command_line, adapter_stdin
from workbench.journal.usage_queries import UsageScope, row_tops, usage_facts
from workbench.pipelines.model import Adapter, Runtime, model_of_tier
from workbench.views.usage import usage_table

PROGRAM = f"""#!{sys.executable}
import json, os, sys
words = sys.argv[1:]
prompt = words[words.index("-p") + 1]
form = words[words.index("--output-format") + 1]
model = words[words.index("--model") + 1] if "--model" in words else "none"
open("seen.json", "w").write(json.dumps({{"words": words, "home": os.environ.get("WORKBENCH_HOME"), "files": sorted(os.listdir("."))}}))
if "crash" in prompt:
    sys.exit(7)
if "mumble" in prompt:
    print("no json at all")
    sys.exit(0)
if "refuse" in prompt:
    print(json.dumps({{"type": "result", "is_error": True, "error": "quota is used up"}}))
    sys.exit(0)
open("out.md", "w").write("for " + model)
done = {{"type": "result", "result": "I did " + prompt.splitlines()[0], "usage": {{"input_tokens": 4, "output_tokens": 2}}}}
print(json.dumps({{"level": "warn", "message": "a log line of its own"}}), file=sys.stderr, flush=True)
if form == "stream-json":
    print(json.dumps({{"type": "assistant", "text": "working"}}))
print(json.dumps(done, indent=2 if form == "json" else None))
print(json.dumps({{"level": "warn", "message": "done"}}), file=sys.stderr)
"""

STEPS = """
  - id: a
    persona: outside
    model: big
    exec: {type: prompt, source: "%s"}
    output_artifacts: [{name: said, source: stdout}, {name: o, path: out.md}]
"""


def outside(runs, tmp_path, form="json", more=""):
    program = tmp_path / "agent-program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    manifest = MANIFEST.replace(
        "personas:\n",
        f"""  other:
    binary: {program}
    mode: headless
    output_format: {form}
    project_files: [HOUSE.md]
{more}personas:
  outside: {{adapter: other, system_prompt_file: prompts/builder.md}}
""",
    )
    return runs(manifest=manifest, files={"HOUSE.md": "rules\n"})


@pytest.mark.spec(81, 227)
@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_a_program_answers_and_leaves_files(runs, tmp_path, form):
    here = outside(runs, tmp_path, form)
    row = here.run(STEPS % "do {{ input }}", input="it")
    assert row.status == "completed"
    found = {
        b.name: here.journal.blobs.read(b.content_ref)
        for _, b in here.bodies(row.pipeline_id, "artifact.stored")
    }
    assert found == {"said": b"I did do it", "o": b"for big"}
    assert row.usage.total_tokens == 6
    seen = json.loads((here.home.path / "workspaces" / row.pipeline_id / "a" / "seen.json").read_text())
    assert (seen["home"], "HOUSE.md" in seen["files"]) == (None, True)


@pytest.mark.parametrize(
    ("prompt", "why"),
    [("crash", "exit code 7"), ("mumble", "answered no JSON"), ("refuse", "quota is used up")],
)
def test_a_program_that_fails_says_why(runs, tmp_path, prompt, why):
    here = outside(runs, tmp_path)
    row = here.run(STEPS % prompt)
    assert row.status == "failed"
    assert why in row.error_message


@pytest.mark.parametrize(
    ("name", "adapter", "routing", "models"),
    [
        ("cheapest", {"cheapest": "s", "balanced": "m"}, {"strongest": "l"}, ["s", "m", "l", "l"]),
        ("strongest", {}, {"strongest": "l"}, ["l", "l"]),
        ("balanced", {}, {}, ["own", "own"]),
        ("small-1", {"cheapest": "s"}, {}, ["small-1", "small-1"]),
    ],
)
def test_a_tier_stands_for_a_model_and_goes_up_with_each_retry(name, adapter, routing, models):
    here = Adapter(name="a", binary="claude", model="own", tier_models=adapter)
    runtime = Runtime(complexity_map=routing)
    assert [model_of_tier(name, here, runtime, retry) for retry in range(len(models))] == models
    lost = Adapter(name="a", binary="claude", model="cheapest")
    assert model_of_tier("cheapest", lost, Runtime(), 0) == "", "no tier is ever asked as a model"


def test_the_tier_of_a_step_reaches_the_program_as_a_model(runs, tmp_path):
    here = outside(runs, tmp_path, more="    tier_models: {cheapest: small-1}\n")
    row = here.run(STEPS.replace("model: big", "model: cheapest") % "do it")
    found = [b for _, b in here.bodies(row.pipeline_id, "artifact.stored") if b.name == "o"]
    assert here.journal.blobs.read(found[0].content_ref) == b"for small-1"


@pytest.mark.parametrize(("more", "asked"), [("", "large-1"), (", no_escalate: true", "small-1")])
def test_a_retry_goes_one_tier_up_unless_its_step_keeps_it(runs, tmp_path, more, asked):
    here = outside(runs, tmp_path, more="    tier_models: {cheapest: small-1, balanced: large-1}\n")
    retry = f"retry: {{max_attempts: 2, base_delay: 0s{more}}}"
    row = here.run(STEPS.replace("model: big", f"model: cheapest\n    {retry}") % "crash")
    (failed,) = [body for _, body in here.bodies(row.pipeline_id, "step.changed") if body.state == "failed"]
    assert failed.attempt == 2
    seen = json.loads((here.home.path / "workspaces" / row.pipeline_id / "a" / "seen.json").read_text())
    assert seen["words"][seen["words"].index("--model") + 1] == asked


@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_what_runs_used_is_counted_once_by_their_outermost_pipelines(runs, tmp_path, form):
    here = outside(runs, tmp_path, form)
    assert [here.run(STEPS % "it").status for _ in range(2)] == ["completed"] * 2
    outer = here.pipeline("\n  - {id: s, pipeline: p.yaml}\n", name="outer")
    row = here.drive(here.request(outer, input="x"))
    assert (row.status, row.usage.total_tokens) == ("completed", 6)
    with here.journal.snapshot() as database:
        tops, facts = row_tops(database, "pipeline"), usage_facts(database, "session", UsageScope())
    table = usage_table("pipeline", facts, lambda *_: 1, tops=tops)
    assert {row.key: row.sum.usage.total_tokens for row in table.rows} == {"p": 12, "outer": 6}


def test_a_binary_that_is_not_there_fails_its_step_only(runs, tmp_path):
    here = outside(runs, tmp_path)
    (tmp_path / "agent-program").unlink()
    row = here.run(STEPS % "x" + "  - {id: b, exec: {type: command, source: 'true'}}\n")
    assert here.states(row.pipeline_id) == {"a": "failed", "b": "completed"}


def test_known_programs_get_their_own_words_and_values_are_not_looked_into():
    spec = StepSpec(
        id=StepId(run="r", step="s"), kind="prompt", source="say {model} {prompt}",
        adapter={"binary": "/opt/claude", "output_format": "json"},
        persona={"prompt": "be brief", "deny": [["Bash(rm *)", "w:1"]]},
    )  # fmt: skip
    words = adapter_command_line(spec)
    assert words[:4] == ["/opt/claude", "-p", "--output-format", "stream-json"]
    assert adapter_stdin(spec) == b"say {model} {prompt}"
    assert words[words.index("--disallowedTools") + 1] == "Bash(rm *)"
    assert "--model" not in words
    assert "--allowedTools" not in words


READER = f"""#!{sys.executable}
import json, sys
text = sys.stdin.read()
print(json.dumps({{"type": "result", "result": f"{{len(text)}} {{text[:9]}} {{text[-5:]}} {{len(sys.argv)}}"}}))
"""


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("claude", "", "300004 say xxxxx xxxxx 11"),
        ("codex", "", "300017 You build xxxxx 4"),
        ("gemini", "", "300017 You build xxxxx 3"),
        ("droid", "", "300017 You build xxxxx 4"),
        ("mine", "[--quiet]", "300004 say xxxxx xxxxx 2"),
    ],
)
def test_a_prompt_of_any_length_reaches_a_program_by_its_standard_input(runs, tmp_path, name, args, expected):
    program = tmp_path / "bin" / name
    program.parent.mkdir()
    program.write_text(READER)
    program.chmod(0o755)
    more = f"\n    args: {args}" if args else ""
    manifest = MANIFEST.replace("binary: workbench", f"binary: {program}{more}", 1)
    here = runs(manifest=manifest)
    row = here.run(
        """
  - id: a
    persona: builder
    exec: {type: prompt, source: "say {{ input }}"}
    output_artifacts: [{name: said, source: stdout}]
""",
        input="x" * 300_000,
    )
    assert row.error_message == ""
    (said,) = [b for _, b in here.bodies(row.pipeline_id, "artifact.stored")]
    assert here.journal.blobs.read(said.content_ref).decode() == expected


def test_a_flood_of_output_costs_no_memory_and_both_ends_are_kept(runs):
    here = runs()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    row = here.run("""
  - id: a
    exec: {type: command, source: "echo first; yes 'a line of text' | head -c 300000000; echo last"}
""")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert row.status == "completed"
    (ended,) = [b for _, b in here.bodies(row.pipeline_id, "step.changed") if b.state == "completed"]
    whole = here.journal.blobs.read(ended.output_ref).decode()
    assert whole.startswith("first\n")
    assert whole.rstrip().endswith("last")
    assert ended.output_bytes > 300_000_000
    assert grown < 100_000
