"""`pipeline new`: each template is valid and runs to its end, and a session becomes the pipeline of what it did."""

import io
import json
import re

import pytest

from tests.support.tables import each_row
from tests.unit.pipelines.projects import MANIFEST, PROMPTS, write
from workbench.domain.values import PIPELINE_FOLDERS
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.new_pipeline import TEMPLATE_NAMES, pipeline_templates

REPLY = {"reply": [{"text": "Done as it was asked."}]}


def below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def typed(monkeypatch):
    """Answer the questions of the next commands."""
    monkeypatch.setattr("workbench.cli.console.Console.can_ask", True)

    def answer(*lines):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return answer


@pytest.mark.parametrize("template", TEMPLATE_NAMES)
def test_a_template_runs_to_its_end_with_the_recorded_model(shell, template, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    assert shell("pipeline", "new", "mine", "--template", template, "--yes") == 0
    assert shell("pipeline", "validate", "--strict") == 0, shell.out
    assert shell("trust", "--yes") == 0
    recordings = shell.folder / "recordings"
    for step in ("plan", "change", "summary", "notes"):
        write(recordings, {f"{step}.json": json.dumps({"recording": 1, "model": "m", "exchanges": [REPLY]})})
    words = ["pipeline", "run", "mine", "--recording", str(recordings), "--on-approval", "park"]
    code = shell(*words, *([] if template == "check" else ["--input", "1.2"]))
    if template != "check":
        assert code == 3, shell.err
        waiting = shell.json("approvals", "list", "--json")
        assert "Done as it was asked." in json.dumps(waiting)
        assert shell("approvals", "answer", waiting[0]["id"], "--choice", "y") == 0
        code = shell("pipeline", "resume", "--on-approval", "park")
    assert code == 0, shell.err
    steps = shell.json("pipeline", "status", "--json")["steps"]
    assert {step["state"] for step in steps} == {"completed"}


def test_templates_teach_by_comments_and_name_themselves():
    for one in pipeline_templates():
        lines = one.text.splitlines()
        assert lines[0].startswith(f"# workbench pipeline run {one.name}")
        assert sum("#" in line for line in lines) >= 5 and one.description


def test_a_template_is_listed_and_asked_for(shell, typed):
    typed("2", "write")
    assert shell("pipeline", "new") == 0
    for one in pipeline_templates():
        assert f"{one.name:<8} {one.description}" in shell.out
    assert "+++ b/.workbench/pipelines/check.yaml" in shell.out
    typed("4")
    assert shell("pipeline", "new") == 1
    typed("plan", "no")
    before = below(shell.workspace)
    assert shell("pipeline", "new") == 1 and below(shell.workspace) == before


def test_nothing_is_overwritten_and_personas_that_are_there_are_used(shell):
    write(shell.workspace, {"wave.yaml": MANIFEST.replace("  builder:", "  planner:"), **PROMPTS})
    assert shell("pipeline", "new", "--template", "plan", "--yes") == 0
    after = (shell.workspace / "wave.yaml").read_text()
    assert after.count("planner:") == 1 and "developer:" in after
    assert not (shell.workspace / ".workbench/personas/planner.md").exists()
    files = {path: (shell.workspace / path).read_bytes() for path in below(shell.workspace)}
    assert (
        shell("pipeline", "new", "--template", "plan", "--yes") == 1
        and "a pipeline plan already" in shell.err
    )
    assert {path: (shell.workspace / path).read_bytes() for path in below(shell.workspace)} == files


def test_an_empty_list_leads_to_a_new_pipeline(shell):
    assert shell("pipeline", "list") == 0
    assert "workbench pipeline new" in shell.out
    assert all(folder in shell.out for folder in PIPELINE_FOLDERS)


def test_the_list_counts_steps(shell):
    step = "  - {id: %s, type: command, script: ls}\n"
    head = "kind: WavePipeline\nmetadata: {name: %s}\nsteps:\n"
    write(shell.workspace / "pipelines", {
        "one.yaml": head % "one" + step % "a", "two.yaml": head % "two" + step % "a" + step % "b",
    })  # fmt: skip
    assert shell("pipeline", "list") == 0
    assert re.search(r"^one +1 step +pipelines/one.yaml$", shell.out, re.MULTILINE)
    assert re.search(r"^two +2 steps +pipelines/two.yaml$", shell.out, re.MULTILINE)


@each_row("words, said", [
    ((), "no terminal"), (("../x", "--template", "plan"), "cannot be the name"), (("--template", "none"), "invalid choice"),
    (("--from-session", "none"), "none"), (("--template", "plan", "--from-session", "x"), "not allowed"),
])  # fmt: skip
def test_what_cannot_be_made_says_why(shell, words, said):
    assert shell("pipeline", "new", *words, "--yes") != 0
    assert said in shell.err.lower() and below(shell.workspace) == []


# --- of a session -------------------------------------------------------------------------------------


@pytest.fixture
def session(shell):
    """A session with two prompts, of whose commands one failed and one ran twice."""

    def call(number, command):
        return {
            "tool_call": {"id": f"c{number}", "name": "run_in_terminal", "arguments": {"command": command}}
        }

    (shell.workspace / "a.txt").write_text("one\n")
    recording = shell.recording(
        {"reply": [call(1, "cat a.txt")]}, {"reply": [call(2, "cat none.txt")]}, {"reply": [call(3, "cat a.txt")]},
        {"reply": [{"text": "done"}]}, {"reply": [call(4, "ls -l")]}, {"reply": [{"text": "again"}]},
        {"reply": [{"text": "seen"}]},
    )  # fmt: skip
    for pattern in ("Bash(cat *)", "Bash(ls *)"):
        assert shell("rules", "add", "Bash", pattern, "--glob", "-d", "a test") == 0, shell.err
    words = ("--provider", "recorded", "--recording", recording, "--on-approval", "deny")
    assert shell("run", "-p", "Please read the number in the file", *words) == 0, shell.err
    found = shell.json("sessions", "list", "--json")[0]["id"]
    assert shell("run", "-p", "And now list {{ everything }}", "--session", found) == 0, shell.err
    assert shell("run", "-p", "Look at it again", "--session", found) == 0, shell.err
    return found


def steps_of(shell, name):
    loaded = load_pipeline(str(shell.workspace / f".workbench/pipelines/{name}.yaml"))
    assert loaded.report.is_runnable, loaded.report.found
    return [(step.id, step.kind, step.source, step.needs) for step in loaded.pipeline.steps]


def test_a_session_becomes_its_prompts_and_the_commands_that_succeeded(shell, session):
    assert shell("pipeline", "new", "again", "--from-session", session, "--yes") == 0, shell.err
    assert steps_of(shell, "again") == [
        ("read-number-file", "prompt", "Please read the number in the file", ()),
        ("cat-a-txt", "command", "cat a.txt", ("read-number-file",)),
        ("ls", "command", "ls -l", ("cat-a-txt",)),
        ("look-again", "prompt", "Look at it again", ("ls",)),
    ]
    for said in (
        "1 command that did not succeed",
        "ran again before the next prompt",
        "“And now list {{ everything }}”",
    ):
        assert said in shell.out, shell.out


def test_steps_are_left_out_and_renamed_by_their_numbers(shell, session, typed):
    typed("9", "2=ls", "1 2=show/it", "1 2=show", "", "write")
    assert shell("pipeline", "new", "again", "--from-session", session) == 0, shell.err
    assert "neither a number of the list nor NUMBER=NAME" in shell.err
    assert "Another step has the name ls." in shell.err
    assert "“show/it” cannot be the name of a step." in shell.err
    assert [step[0] for step in steps_of(shell, "again")] == ["show", "ls", "look-again"]
    typed("1 2 3 4", "", "write")
    assert (
        shell("pipeline", "new", "none", "--from-session", session) == 1
        and "a pipeline needs one" in shell.err
    )


def test_without_a_name_it_is_called_by_the_title(shell, session):
    facts = shell.json("pipeline", "new", "--from-session", session, "--json", "--yes")
    assert facts["files"][-1].endswith("/.workbench/pipelines/read-number-file.yaml")
