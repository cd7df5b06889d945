"""The commands of `pipeline` on a small project, in this process."""

import io
import json
import re
import threading
from argparse import Namespace

import pytest
from msgspec.structs import replace

from tests.support.tables import each_row
from tests.support.waits import until
from tests.unit.pipelines.projects import MANIFEST, command, project, said
from workbench.cli import pipeline_run
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.domain.codec import event_from_line
from workbench.pipelines.documents import MANIFEST_NAMES
from workbench.pipelines.granted_patterns import still_asked

STEPS = command("a", "echo one > a.txt", output_artifacts="[{name: x, path: a.txt}]") + command(
    "b", "echo {{ a/x }}", dependencies="[a]"
)


@pytest.fixture
def place(tmp_path):
    root = tmp_path / "p"
    root.mkdir()
    project(root, STEPS)
    assert said(root, "trust", "--yes")[0] == 0
    return root


def test_a_run_is_begun_told_and_found_again(place):
    code, out, _ = said(place, "pipeline", "run", "p.yaml", "--json")
    found = json.loads(out)
    assert (code, found["status"], found["number"], found["exit"]) == (0, "completed", 1, 0)
    assert [step["state"] for step in found["steps"]] == ["completed", "completed"]
    code, out, _ = said(place, "pipeline", "status", "p#1", "--json")
    assert (code, json.loads(out)["run_id"]) == (0, found["run_id"])
    code, out, _ = said(place, "pipeline", "logs", found["run_id"][:8], "--step", "b", "--json")
    assert json.loads(out)[0]["output"] == "one\n\n"
    code, out, _ = said(place, "pipeline", "list", "--runs", "--json")
    assert [run["status"] for run in json.loads(out)] == ["completed"]
    code, out, _ = said(place, "pipeline", "artifacts", "p#1", "a/x", "--to", str(place / "out"))
    assert (place / "out" / "a" / "x.txt").read_text() == "one\n"
    code, out, _ = said(place, "pipeline", "clean", "--json")
    assert [one["removed"] for one in json.loads(out)] == [True]
    assert said(place, "pipeline", "clean")[1] == "Nothing to clean.\n"


def test_stream_json_is_an_event_a_line(place):
    _, out, _ = said(place, "pipeline", "run", "p.yaml", "--output-format", "stream-json")
    kinds = [json.loads(line)["kind"] for line in out.splitlines()]
    assert kinds.count("step.changed") == 4
    assert kinds[-2:] == ["run.changed", "session.status_changed"]


def test_s2_tells_how_far_a_run_is(place):
    _, out, _ = said(place, "pipeline", "run", "p.yaml", "--output-format", "s2")
    first, *messages, last = [json.loads(line) for line in out.splitlines()]
    assert first["session"]["id"] == last["session"]["id"]
    told = [one["content"]["Progress"] for one in messages if "Progress" in one.get("content", {})]
    assert [one["percentage"] for one in told] == [0, 50, 50, 100]
    assert told[-1]["description"] == "b completed"


def test_a_dry_run_shows_the_order_and_writes_nothing(place):
    code, out, _ = said(place, "pipeline", "run", "p.yaml", "--dry-run", "--json")
    found = json.loads(out)
    assert (code, found["ok"], [step["step_id"] for step in found["steps"]]) == (0, True, ["a", "b"])
    assert said(place, "pipeline", "list", "--runs", "--json")[1].strip() == "[]"


def test_a_dry_run_says_what_is_taken_from_an_earlier_run_and_what_is_wrong_with_the_input(place):
    text = (place / "p.yaml").read_text()
    (place / "p.yaml").write_text(text.replace("steps:", "input: {required: true, example: x7}\nsteps:"))
    words = ("pipeline", "run", "p.yaml", "--dry-run", "--output-format", "stream-json")
    code, out, _ = said(place, *words, "--input", "y", "--from-step", "b")
    found = json.loads(out)
    assert (code, [step["taken_from_earlier_run"] for step in found["steps"]]) == (0, [True, False])
    code, out, err = said(place, "pipeline", "run", "p.yaml", "--dry-run")
    assert (code, "for example x7" in err, "could not start" in out) == (1, True, True)
    assert "no step q" in said(place, *words, "--from-step", "q")[2]


def test_exit_codes_of_validate(place):
    assert said(place, "pipeline", "validate", str(place / "p.yaml"))[0] == 0
    (place / "bad.yaml").write_text("kind: WavePipeline\nmetadata: {name: b}\nsteps: []\n")
    code, out, _ = said(place, "pipeline", "validate", str(place / "bad.yaml"), "--json")
    found = json.loads(out)
    assert (code, found["ok"], found["errors"][0]["code"], found["errors"][0]["line"]) == (
        1,
        False,
        "missing_field",
        3,
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("run", "gone"), "no pipeline gone"),
        (("run", "p.yaml", "--from-step", "q"), "no step q"),
        (("run", "p.yaml", "--input", "@/nowhere/x"), "There is no file /nowhere/x"),
        (("status", "abcdef"), "none of that id"),
        (("logs",), "has none"),
        (("resume", "p#9"), "none of that id"),
        (("cancel",), "has none"),
    ],
)  # fmt: skip
def test_wrong_words_are_refused_with_a_reason(place, words, why):
    code, out, err = said(place, "pipeline", *words)
    assert (code, out) == (1, "")
    assert why in err


def test_a_failed_run_says_how_to_go_on(place):
    project(place, command("a", "exit 3"))
    said(place, "trust", "--yes")
    code, _, err = said(place, "pipeline", "run", "p.yaml")
    assert code == 1
    assert "pipeline resume" in err
    code, out, _ = said(place, "pipeline", "logs", "--errors")
    assert "exit code 3" in out


def test_the_object_of_validate_is_the_agreed_one(place):
    (place / "bad.yaml").write_text(
        "kind: WavePipeline\nmetadata: {name: b}\nsteps:\n" + command("a", dependencies="[q]", odd="1")
    )
    file = str(place / "bad.yaml")
    code, out, _ = said(place, "pipeline", "validate", file, "--json")
    found = json.loads(out)
    assert (code, list(found)) == (1, ["file", "ok", "runnable", "errors", "warnings"])
    (error,) = found["errors"]
    assert list(error) == ["code", "message", "file", "line", "column", "path"]
    assert (error["code"], error["file"], error["line"], error["path"]) == (
        "unknown_step", file, 6, "steps[0].dependencies[0]",
    )  # fmt: skip
    assert [one["code"] for one in found["warnings"] if one["file"] == file] == ["unknown_key"]
    assert said(place, "pipeline", "validate", str(place / "p.yaml"), "--strict")[0] in (0, 1)
    (place / "odd.yaml").write_text(
        "kind: WavePipeline\nmetadata: {name: b}\nsteps:\n" + command("a", odd="1")
    )
    assert said(place, "pipeline", "validate", str(place / "odd.yaml"))[0] == 0
    assert said(place, "pipeline", "validate", str(place / "odd.yaml"), "--strict")[0] == 1
    code, _, err = said(place, "pipeline", "validate", file, "--root", "/nowhere")
    assert (code, "no folder /nowhere" in err) == (1, True)


def test_validate_has_a_sign_for_what_is_right_and_could_not_begin(place):
    write = "kind: WavePipeline\nmetadata: {name: b}\nrequires: {tools: [no-such-tool]}\nsteps:\n"
    file = place / "stuck.yaml"
    file.write_text(write + "".join(command(name, "true", odd="1") for name in "abc"))
    code, out, _ = said(place, "pipeline", "validate", str(file))
    lines = [line for line in out.splitlines() if "stuck.yaml" in line]
    assert (code, len(lines)) == (0, 3)
    assert lines[1].endswith("[unknown_key] (3 times, also in lines 10, 13)")
    assert lines[2].startswith("! ") and "0 errors" in lines[2] and lines[2].endswith("could not start: 1")
    code, out, _ = said(place, "pipeline", "validate", str(file), "--json")
    found = json.loads(out)
    assert (code, found["ok"], found["runnable"]) == (0, True, False)
    stops = [one["code"] for one in found["warnings"] if one.get("stops_run")]
    assert stops == ["missing_binary"]
    file.write_text(file.read_text().replace("no-such-tool", "sh"))
    assert json.loads(said(place, "pipeline", "validate", str(file), "--json")[1])["runnable"] is True


def test_validate_and_the_dry_run_name_the_levels_of_the_sandbox(place):
    hook = '{matcher: "Bash(*)", command: "true", sandbox: read-only}'
    manifest = MANIFEST.replace("    mode: headless\n", "    mode: headless\n    sandbox: workspace\n")
    manifest = manifest.replace("    temperature: 0.5\n", f"    hooks: {{PreToolUse: [{hook}]}}\n")
    agent = "- {id: plan, persona: builder, exec: {type: prompt, source: x}}\n"
    project(place, command("a", "true", sandbox="read-only") + command("b") + agent, manifest=manifest)
    files = [str(place / name) for name in ("p.yaml", "wave.yaml")]
    out = said(place, "pipeline", "validate", *files)[1]
    assert [line.strip() for line in out.splitlines() if "sandbox" in line] == [
        "a: sandbox read-only", "plan: sandbox workspace", "adapter own: sandbox workspace",
        "hook PreToolUse Bash(*) of builder: sandbox read-only",
    ]  # fmt: skip
    found = json.loads(said(place, "pipeline", "validate", files[0], "--json")[1])
    assert found["sandbox"] == {"a": "read-only", "plan": "workspace"}
    plan = json.loads(said(place, "pipeline", "run", "p.yaml", "--dry-run", "--json")[1])
    assert [step["sandbox"] for step in plan["steps"]] == ["read-only", None, "workspace"]
    assert (
        "sandbox workspace  hooks sandbox read-only"
        in said(place, "pipeline", "run", "p.yaml", "--dry-run")[1]
    )


def test_validate_and_graph_take_the_name_of_a_pipeline_too(place):
    (place / "pipelines").mkdir()
    (place / "pipelines" / "night.yaml").write_text(
        "kind: WavePipeline\nmetadata: {name: nightly}\nsteps:\n" + command("a", odd="1")
    )
    for word in ("nightly", "night"):
        code, out, _ = said(place, "pipeline", "validate", word)
        assert (code, "pipelines/night.yaml:" in out, "odd is not a known key" in out) == (0, True, True)
    for verb in ("validate", "graph"):
        code, _, err = said(place, "pipeline", verb, "nighty")
        assert (code, "nightly meant" in err) == (1, True)
    assert "no such file" in said(place, "pipeline", "validate", "gone.yaml")[1]


def test_a_run_whose_driver_is_gone_says_how_to_go_on(place, monkeypatch):
    project(place, "- {id: g, gate: {prompt: go?}}\n" + command("z", dependencies="[g]"))
    said(place, "trust", "--yes")
    assert said(place, "pipeline", "run", "p.yaml", "--on-approval", "park")[0] == 3
    assert "that ran it is gone" not in said(place, "pipeline", "status")[1]
    real = pipeline_run.find_run
    monkeypatch.setattr(pipeline_run, "find_run", lambda *words: replace(real(*words), status="running"))
    monkeypatch.setattr("workbench.journal.journal.Journal.pipeline_state", lambda *_: None)
    assert (
        "The process that ran it is gone. workbench pipeline resume" in said(place, "pipeline", "status")[1]
    )


def is_item(line):
    return re.match(r" {4}\S m\[", line) is not None


def test_the_status_of_a_matrix_folds_its_items(place):
    items = f"strategy: {{type: matrix, items: {list(range(1, 24))}}}"
    project(place, f"- {{id: m, {items}, exec: {{type: command, source: 'test {{{{ item }}}} -lt 3'}}}}\n")
    said(place, "trust", "--yes")
    said(place, "pipeline", "run", "p.yaml")
    lines = said(place, "pipeline", "status")[1].splitlines()
    assert lines[1] == "  1 failed, 0 of 1 done" and "23 items: 2 completed, 21 failed" in lines[3]
    assert sum(is_item(line) for line in lines) == 20
    assert any("and 1 more failed; --all lists every item" in line for line in lines)
    assert sum(map(is_item, said(place, "pipeline", "status", "--all")[1].splitlines())) == 23
    (step, *_) = json.loads(said(place, "pipeline", "status", "--json")[1])["steps"]
    assert step["items"] == {"completed": 2, "failed": 21}


def test_where_nobody_sits_a_waiting_run_says_so_and_an_approval_of_its_gate_names_the_answer(place):
    choices = "[{key: y, label: go on}, {key: n, label: stop}]"
    project(
        place, f"- {{id: g, gate: {{prompt: go?, choices: {choices}}}}}\n" + command("z", dependencies="[g]")
    )
    said(place, "trust", "--yes")
    said(place, "pipeline", "run", "p.yaml", "--on-approval", "park")
    out, err, told = io.StringIO(), io.StringIO(), []

    def answer():
        until(lambda: "approvals show" in err.getvalue())
        action = err.getvalue().split("approvals show ")[1].split(".")[0]
        told.append(said(place, "approvals", "approve", action))
        remedy = told[0][2].split("workbench ")[1].split(" answers")[0]
        told.append(said(place, *remedy.split()))

    human = threading.Thread(target=answer)
    human.start()
    code = dispatch(["pipeline", "resume", "-C", str(place)], Console(out, err))
    human.join()
    assert (code, told[0][0], told[1][0]) == (0, 1, 0), (told, err.getvalue())
    assert err.getvalue().count("--on-approval park") == 1


def test_the_log_of_a_running_step_is_what_it_has_printed_so_far(place):
    from workbench.cli.pipeline_logs import _running_output

    code, out, _ = said(place, "pipeline", "run", "p.yaml", "--output-format", "stream-json")
    events = [event_from_line(line) for line in out.splitlines() if '"kind":"output.streamed"' in line]
    moved = [event_from_line(line) for line in out.splitlines() if '"kind":"step.changed"' in line]
    begun = next(e for e in moved if e.step == "b" and e.body.state == "running")
    streamed = replace(events[0], step="b") if events else None
    assert (code, streamed is not None) == (0, True)
    options = Namespace(step=None, tail=None)
    (entry,) = _running_output([begun, streamed, streamed], options)
    assert (entry["step_id"], entry["state"], entry["output"]) == ("b", "running", streamed.body.text * 2)
    assert _running_output([begun, streamed, begun], options)[0]["output"] == ""
    ended = next(e for e in moved if e.step == "b" and e.body.state == "completed")
    assert _running_output([begun, streamed, ended], options) == []
    assert _running_output([begun, streamed], Namespace(step="a", tail=None)) == []


def test_following_a_run_that_is_over_ends_and_an_array_cannot_be_followed(place):
    said(place, "pipeline", "run", "p.yaml")
    code, out, _ = said(place, "pipeline", "logs", "--follow", "--step", "b")
    assert (code, "completed" in out, "one" in out) == (0, True, True)
    code, _, err = said(place, "pipeline", "logs", "--follow", "--json")
    assert (code, "stream-json" in err) == (1, True)


@pytest.mark.parametrize(
    ("patterns", "asks"),
    [
        (("Read",), "every command"), (("Bash(git *)", "Read"), "commands with redirects"), (("Bash",), ""),
        (("run_in_terminal(*)",), ""),
    ],
)  # fmt: skip
def test_the_dry_run_names_what_still_asks(patterns, asks):
    lines = still_asked(patterns)
    assert lines[0].startswith(asks or "changes of what git or another program runs by itself")
    assert len(lines) == 1 + bool(asks)


def test_nothing_is_offered_to_be_granted_to_personas_of_another_program(place):
    steps = "- id: a\n  persona: builder\n  exec: {type: prompt, source: x}\n"
    file = project(place, steps)
    said(place, "trust", "--yes")
    code, out, _ = said(place, "pipeline", "run", "p.yaml", "--dry-run", "--output-format", "json")
    assert json.loads(out)["grants"] == ["Read", "Write"]
    assert json.loads(out)["still_asks"][0] == "every command"
    project(place, steps, manifest=MANIFEST.replace("binary: workbench", "binary: sh"))
    code, out, _ = said(place, "pipeline", "run", "p.yaml", "--dry-run", "--output-format", "json")
    assert (code, json.loads(out)["grants"], bool(file)) == (0, [], True)
    code, out, _ = said(place, "pipeline", "run", "p.yaml", "--dry-run")
    assert "Would still ask" not in out


@pytest.mark.parametrize(
    ("forge", "shown", "grants"),
    [("codeberg", "agent gitea-builder", ["Read", "Write"]), ("", "agent {{ forge.type }}-builder", [])],
)
def test_personas_of_the_code_host_are_named_as_the_run_will_have_them(place, forge, shown, grants):
    manifest = MANIFEST.replace("  builder:", "  gitea-builder:")
    if forge:
        manifest = manifest.replace("name: shop", f"name: shop\n  forge: {forge}")
    project(
        place,
        "- {id: a, persona: '{{ forge.type }}-builder', exec: {type: prompt, source: x}}\n",
        manifest=manifest,
    )
    said(place, "trust", "--yes")
    _, out, _ = said(place, "pipeline", "run", "p.yaml", "--dry-run")
    assert shown in out
    assert ("its calls are listed when the code host is known" in out) is (not forge)
    _, out, _ = said(place, "pipeline", "run", "p.yaml", "--dry-run", "--json")
    assert json.loads(out)["grants"] == grants
    options = Namespace(
        recording=None, name="p.yaml", input="", manifest=None, grant=[], from_step="", grant_personas=True
    )
    assert [*pipeline_run._run_options(options, str(place)).grants] == grants


# --- an input that is used and missing ------------------------------------------------------------


@pytest.fixture
def greeting(place):
    steps = command("hello", "echo hello {{ input }} > out.txt") + command("bye", "echo bye")
    project(place, steps)
    assert said(place, "trust", "--yes")[0] == 0
    return place


def asked_at_a_terminal(place, monkeypatch, answer, *words):
    monkeypatch.setattr(Console, "can_ask", True)
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    return said(place, "pipeline", "run", "p.yaml", *words)


@each_row(
    "words, is_warned",
    [
        ((), True),
        (("--json",), True),
        (("--input", " "), True),
        (("--no-input",), False),
        (("--input", "you"), False),
        (("--no-input", "--json"), False),
    ],
)
def test_a_script_is_warned_of_an_input_that_is_missing_and_its_run_starts(greeting, words, is_warned):
    status, _, err = said(greeting, "pipeline", "run", "p.yaml", *words)
    assert status == 0, err
    assert ("Warning: the input is empty, and hello uses it." in err) == is_warned
    assert ("--input TEXT" in err and "--no-input" in err) == is_warned


@each_row(
    "answer, words, code",
    [("yes\n", (), 0), ("no\n", (), 1), ("", (), 1), ("", ("--json",), 0)],
)
def test_a_person_is_asked_once_for_the_input(greeting, answer, words, code):
    with pytest.MonkeyPatch.context() as monkeypatch:
        status, out, err = asked_at_a_terminal(greeting, monkeypatch, answer, *words)
    assert status == code, err
    assert ("Start without it? Type yes: " in out) == (not words)


def test_a_pipeline_that_uses_no_input_is_not_asked_for_one(place):
    assert said(place, "pipeline", "run", "p.yaml")[0] == 0


@pytest.mark.spec(89)
@pytest.mark.parametrize(
    ("metadata", "line", "facts"),
    [
        ('{name: shop, description: "sells\\n\\e[1mthings", repo: https://example.org/shop}',
         "shop: sells ", ["shop", "https://example.org/shop"]),
        ("{name: shop, description: sells things}", "shop: sells things", ["shop", ""]),
        ("{name: shop, repo: https://example.org/shop}", "shop  (https://example.org/shop)",
         ["shop", "https://example.org/shop"]),
        ("{name: shop}", "", None),
    ],
)  # fmt: skip
def test_what_a_manifest_says_of_its_project_is_shown(place, metadata, line, facts):
    (manifest,) = (path for name in MANIFEST_NAMES if (path := place / name).is_file())
    block = re.compile(r"^metadata:\n(  .*\n)+", re.MULTILINE)
    manifest.write_text(block.sub(lambda _: f"metadata: {metadata}\n", manifest.read_text()))
    folder = place / ".workbench/pipelines"
    folder.mkdir(parents=True)
    (folder / "p.yaml").write_text((place / "p.yaml").read_text())
    listed = said(place, "pipeline", "list")[1]
    assert listed.startswith(line or "p ") and "\x1b" not in listed
    entries = json.loads(said(place, "pipeline", "list", "--json")[1])
    about = entries[0].get("project")
    assert (about and [about["name"], about["repo"]]) == facts
    planned = said(place, "pipeline", "run", "p.yaml", "--dry-run")[1]
    assert planned.startswith(line or "p: ")
