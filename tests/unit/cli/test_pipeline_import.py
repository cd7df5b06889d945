"""`pipeline import`, and what `workbench FILE` and `pipeline validate` say of files of other programs."""

import io
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "formats"))
from workflow_files import SUB_AGENT, WORKFLOWS

from tests.support.tables import each_row
from tests.unit.pipelines.projects import MANIFEST, PROMPTS, write
from workbench.formats.workflows.signatures import SIGNATURES
from workbench.pipelines.load import load_pipeline

TASKFILE = "version: '3'\ntasks:\n  default: {deps: [gen], sources: [a], cmds: ['cat a.txt > b.txt', 'echo {{.CLI_ARGS}} >> b.txt']}\n  gen: echo one > a.txt\n"


@pytest.fixture(name="place")
def _place(shell):
    write(shell.workspace, {"Taskfile.yml": TASKFILE, ".claude/agents/reviewer.md": SUB_AGENT})
    return shell


def below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_each_format_is_named_with_what_to_do(place):
    for one in SIGNATURES:
        name, text = WORKFLOWS[one.id]
        write(place.workspace, {name: text})
        assert place(name) == 1
        assert one.title in place.err and one.advice[1:] in place.err, one.id
        assert place("pipeline", "validate", name) == 1
        assert place.out.count("error:") == 1 and f"{one.title}, not a pipeline; {one.advice}" in place.out


def test_a_pipeline_that_lacks_its_kind_is_still_read_as_one(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text("metadata: {name: a}\njobs: {a: {runs-on: x}}\non: x\nsteps: []\n")
    assert "other_format" not in [problem.code for problem in load_pipeline(str(file)).report.found]


def test_an_imported_task_is_valid_and_runs(place):
    assert place("pipeline", "import", "Taskfile.yml", "--name", "build", "--yes") == 0
    assert "sources: the step runs each time" in place.out
    assert place("pipeline", "validate", "build") == 0
    assert place("trust", "--yes") == 0
    assert place("pipeline", "run", "build", "--input", "a b; echo c") == 0
    assert (place.workspace / "b.txt").read_text() == "one\na b; echo c\n"


def test_nothing_is_written_before_the_answer(place, monkeypatch):
    before = below(place.workspace)
    for answer in ("", "yes\n", "write\n"):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        monkeypatch.setattr("workbench.cli.console.Console.can_ask", True)
        code = place("pipeline", "import", "Taskfile.yml")
        assert "+++ b/.workbench/pipelines/default.yaml" in place.out and "Type write:" in place.out
        if answer != "write\n":
            assert (code, below(place.workspace)) == (1, before)
    assert below(place.workspace) == sorted([*before, ".workbench/pipelines/default.yaml"])


def test_without_a_terminal_it_needs_yes_and_no_file_is_overwritten(place):
    before = below(place.workspace)
    assert place("pipeline", "import", "Taskfile.yml") == 2
    assert below(place.workspace) == before
    facts = place.json("pipeline", "import", "Taskfile.yml", "--yes", "--json")
    assert facts["written"] and facts["files"][0].endswith("/.workbench/pipelines/default.yaml")
    written = Path(facts["files"][0]).read_bytes()
    assert place("pipeline", "import", "Taskfile.yml", "--yes") == 1 and "no file is overwritten" in place.err
    assert Path(facts["files"][0]).read_bytes() == written


def test_a_sub_agent_becomes_a_persona_of_a_new_manifest(place):
    assert place("pipeline", "import", ".claude/agents/reviewer.md", "--yes") == 0
    assert (place.workspace / ".workbench/personas/reviewer.md").read_text().startswith("You read changes.")
    assert place("pipeline", "validate") == 0 and "0 errors" in place.out
    assert place("pipeline", "import", ".claude/agents/reviewer.md", "--yes") == 1
    assert "has a persona reviewer already" in place.err


def test_a_manifest_keeps_every_byte_and_gains_the_persona(place):
    manifest = MANIFEST.replace("personas:\n", "personas: # who\n  # builds\n")
    write(place.workspace, {"wave.yaml": manifest, **PROMPTS})
    assert place("pipeline", "import", ".claude/agents/reviewer.md", "--yes") == 0
    after = (place.workspace / "wave.yaml").read_text()
    start = manifest.index("  # builds")
    assert after.startswith(manifest[:start]) and after.endswith(manifest[start:])
    assert place("pipeline", "validate", "wave.yaml") == 0


@each_row("manifest", [
    MANIFEST.replace("personas:\n", "personas: {}\nx:\n"), "personas: {a: {adapter: own}}\n", "a: [\n", "kind: WaveManifest\n",
])  # fmt: skip
def test_a_manifest_that_cannot_be_extended_stays(manifest):
    from workbench.domain.values import Refused
    from workbench.pipelines.manifest_edit import PersonaEntry, with_personas

    with pytest.raises(Refused):
        with_personas(manifest, "p", {"x.md": PersonaEntry(name="x", description="d", prompt="p")})


def test_what_does_not_map_is_listed_and_nothing_is_written(place):
    write(
        place.workspace,
        {"Taskfile.yml": "version: '3'\ntasks: {default: {dotenv: [a], cmds: ['{{OS}}']}, b: x}\n"},
    )
    before = below(place.workspace)
    assert place("pipeline", "import", "Taskfile.yml", "--yes") == 1
    assert "“dotenv”" in place.err and "{{OS}}" in place.err and below(place.workspace) == before
    assert place("pipeline", "import", "Taskfile.yml", "--task", "b", "--yes") == 0


@each_row("words, said", [
    (("Makefile",), "is a Makefile"), (("notes",), "is not a Taskfile or a sub-agent"), (("none",), "no file none"),
    (("Taskfile.yml", "--name", "../x"), "cannot be the name"), (("/tmp/../etc/hostname",), "is not a Taskfile"),
    (("Taskfile.yml", "-C", "sub"), "is outside the project"),
])  # fmt: skip
def test_what_cannot_be_imported_says_why(place, words, said):
    write(place.workspace, {"Makefile": "a:\n\tb\n", "notes": "words", "sub/x": ""})
    assert place("pipeline", "import", *words, "--yes") != 0
    assert said in place.err


def test_a_change_at_the_same_moment_is_not_overwritten(tmp_path):
    from workbench.domain.values import Refused
    from workbench.pipelines.project_drafts import FileDraft, ProjectDraft, write_draft

    (tmp_path / "a").write_text("theirs")
    for draft in (FileDraft(path="a", text="ours"), FileDraft(path="a", text="ours", before="older")):
        with pytest.raises(Refused, match="changed"):
            write_draft(
                ProjectDraft(root=str(tmp_path), files=(FileDraft(path=f"b{draft.before}", text="b"), draft))
            )
        assert (tmp_path / "a").read_text() == "theirs"


HIDING = "version: '3'\ntasks:\n  default:\n    cmds:\n      - |\n        -----BEGIN RSA PRIVATE KEY-----\n        $(touch x)\n        -----END RSA PRIVATE KEY-----\n"


def test_nothing_is_written_that_the_diff_would_hide_as_a_secret(place):
    write(place.workspace, {"hiding.yml": HIDING})
    before = below(place.workspace)
    assert place("pipeline", "import", "hiding.yml", "--yes") == 1
    assert "looks like a secret (pem)" in place.err
    assert below(place.workspace) == before


def test_every_character_of_a_prompt_is_in_the_diff(place):
    agent = "---\nname: odd\ndescription: d\ntools: Read\n---\none\rtwo\x0cthree\u2028four\n"
    write(place.workspace, {".claude/agents/odd.md": agent})
    assert place("pipeline", "import", ".claude/agents/odd.md", "--yes", "--json") == 0
    added = [line[1:] for line in json.loads(place.out)["diff"].split("\n") if line.startswith("+")]
    prompt = (place.workspace / ".workbench/personas/odd.md").read_bytes().decode()
    assert prompt == "one\rtwo\x0cthree\u2028four\n"
    assert prompt.removesuffix("\n") in added
