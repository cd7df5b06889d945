"""What an agent is told besides its prompt: what others of its thread said, and the project's skills."""

import json
import sys

import pytest

from tests.unit.pipelines.projects import MANIFEST, command, project
from tests.unit.pipelines.test_agent_contracts import prompts
from tests.unit.pipelines.test_relay import said, write
from workbench.pipelines import skills, step_agent
from workbench.pipelines.documents import FrozenFiles
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.skills import MOST_SKILL, skill_words


def step(name, needs="", more="", persona="builder"):
    return (
        f"- id: {name}\n  persona: {persona}\n  dependencies: [{needs}]\n"
        f"  exec: {{type: prompt, source: Do {name}.}}\n{more}"
    )


THREAD = "  thread: impl\n"


def test_a_step_is_told_what_its_thread_said_and_did_before(runs):
    here = runs()
    here.record("a", said("I write one.", write("one.md")), said("One is written."))
    here.record("b", said("Nothing to do."))
    here.record("c", said("Two."))
    steps = step("a", more=THREAD) + step("b", "a") + step("c", "b", THREAD)
    row = here.drive(here.request(here.pipeline(steps), grants=("Write(*)",)))
    assert row.status == "completed", row.error_message
    first, other, last = prompts(here, row.pipeline_id)
    assert first.startswith("Do a.") and other.startswith("Do b.")
    assert last.startswith(
        "What was said and done before in this conversation (impl):\n\n### a\n\nAGENT: I write one."
    )
    assert "TOOL create_file one.md: succeeded" in last and "AGENT: One is written." in last
    assert "Do a." not in last and "Nothing to do." not in last
    assert last.split("Now:\n\n", 1)[1].startswith("Do c.")
    here.check()


def test_a_step_that_is_done_again_is_told_what_it_said_itself(runs):
    here = runs()
    here.record("a.1", said("First try."))
    here.record("a.2", said("Second try."))
    steps = step("a", more=THREAD + "  max_visits: 3\n") + command(
        "t", "test -e again || { touch again; exit 1; }", workspace="{root: ./}", dependencies="[a]"
    )
    steps += "- id: g\n  type: conditional\n  dependencies: [t]\n  edges: [{target: _complete, condition: outcome=success}, {target: a}]\n"
    row = here.run(steps)
    assert row.status == "completed", row.error_message
    assert "First try." in prompts(here, row.pipeline_id)[1]


PROGRAM = f"""#!{sys.executable}
import json, sys
open("prompt.txt", "w").write(sys.argv[sys.argv.index("-p") + 1])
print(json.dumps({{"result": "my words"}}))
"""


def test_another_program_gets_the_conversation_in_its_prompt(runs, tmp_path):
    program = tmp_path / "agent"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    manifest = MANIFEST.replace(
        "personas:\n",
        f"  other: {{binary: {program}, mode: headless}}\npersonas:\n  far: {{adapter: other, system_prompt_file: prompts/reader.md}}\n",
    )
    here = runs(manifest=manifest)
    row = here.run(
        step("a", more=THREAD, persona="far")
        + step("b", "a", THREAD + "  max_concurrent_agents: 3\n", persona="far")
    )
    assert row.status == "completed", row.error_message
    told = (here.home.path / "workspaces" / row.pipeline_id / "b" / "prompt.txt").read_text()
    assert "### a\n\nmy words" in told and "up to 3 agents of your own at once" in told


def test_a_long_thread_loses_what_was_said_first(runs, monkeypatch):
    monkeypatch.setattr(step_agent, "MOST_THREAD", 60)
    here = runs()
    for name, words in (("a", "a" * 500), ("b", "b" * 30), ("c", "c")):
        here.record(name, said(words))
    row = here.run(step("a", more=THREAD) + step("b", "a", THREAD) + step("c", "b", THREAD))
    last = prompts(here, row.pipeline_id)[2]
    assert "b" * 30 in last and "characters left out" in last and "a" * 60 not in last


UNORDERED = [
    (step("a", more=THREAD) + step("b", more=THREAD), ["unordered_thread"]),
    (step("a", more=THREAD) + step("b", "a", THREAD) + step("c", "a", THREAD), ["unordered_thread"]),
    (step("a", more=THREAD) + step("b", "a") + step("c", "b", THREAD), []),
    (step("a", more=THREAD) + step("b", more="  thread: other\n"), []),
    (
        step("a", more=THREAD + "  retry: {max_attempts: 2, on_failure: rework, rework_step: fix}\n")
        + step("fix", more=THREAD + "  rework_only: true\n"),
        [],
    ),
]


@pytest.mark.parametrize(("steps", "codes"), UNORDERED, ids=range(len(UNORDERED)))
def test_steps_of_a_thread_have_to_follow_one_another(tmp_path, steps, codes):
    found = load_pipeline(project(tmp_path, steps)).report.found
    assert [problem.code for problem in found] == codes, found


def test_how_much_of_a_thread_is_still_named_as_not_run(tmp_path):
    (problem,) = load_pipeline(
        project(tmp_path, step("a", more=THREAD + "  fidelity: compact\n"))
    ).report.found
    assert (problem.code, "fidelity" in problem.message) == ("not_run", True)


def test_a_word_in_braces_that_names_nothing_stays_in_the_prompt(runs):
    here = runs()
    here.record("a", said("Done."))
    here.pipeline(step("a").replace("Do a.", '"Explain {{variable}} to {{ input }}."'))
    row = here.drive(here.request(input="me"))
    (told,) = prompts(here, row.pipeline_id)
    assert "Explain {{variable}} to me." in told


# --- skills -------------------------------------------------------------------------------------------

SKILL = "---\nname: go\ndescription: Go.\n---\nUse table tests.\n"


def test_an_agent_is_given_the_skills_of_manifest_pipeline_persona_and_step(runs):
    manifest = MANIFEST.replace("runtime:", "skills: [house]\nproject: {skill: go}\nruntime:").replace(
        "    temperature: 0.5", "    temperature: 0.5\n    skills: [own]"
    )
    files = {
        ".agents/skills/go/SKILL.md": SKILL, ".wave/skills/house/SKILL.md": "Be tidy.\n",
        ".claude/skills/own.md": "Know yourself.\n", ".wave/skills/extra/SKILL.md": "One more.\n",
    }  # fmt: skip
    here = runs(manifest=manifest, files=files)
    here.record("a", said("Done."))
    head = 'skills: ["{{ project.skill }}", gone, "{{ project.no }}"]\n'
    here.pipeline(step("a", more="  skills: [extra, house]\n"), head=head)
    row = here.drive(here.request())
    (told,) = prompts(here, row.pipeline_id)
    assert '<skill name="go" file=".agents/skills/go/SKILL.md">\nUse table tests.\n</skill>' in told
    assert [
        told.index(words) for words in ("Be tidy.", "Use table tests.", "Know yourself.", "One more.")
    ] == sorted(
        told.index(words) for words in ("Be tidy.", "Use table tests.", "Know yourself.", "One more.")
    )
    assert told.count("Be tidy.") == 1 and "description: Go." not in told
    problems = load_pipeline(str(here.root / "p.yaml")).report.found
    assert [(p.code, "skill gone" in p.message, p.line) for p in problems] == [("missing_skill", True, 3)]


def test_a_run_keeps_the_skills_that_it_was_started_with(runs):
    here = runs(files={".wave/skills/go/SKILL.md": "Old words.\n"})
    here.record("b", said("Done."))
    steps = command("a", "echo New words. > .wave/skills/go/SKILL.md", workspace="{root: ./}") + step(
        "b", "a"
    )
    here.pipeline(steps, head="skills: [go]\n")
    row = here.drive(here.request())
    assert "Old words." in prompts(here, row.pipeline_id)[0] and "New words" in here.read(
        ".wave/skills/go/SKILL.md"
    )


def test_skills_are_bounded_and_lie_in_the_project(tmp_path, monkeypatch):
    files = FrozenFiles({".wave/skills/a/SKILL.md": "x" * (MOST_SKILL + 5), ".wave/skills/b.md": "b" * 50})
    words = skill_words(("a", "b", "../../etc"), files)
    assert "… 5 more characters are in .wave/skills/a/SKILL.md" in words and "etc" not in words
    monkeypatch.setattr(skills, "MOST_SKILLS", 10)
    assert len(skill_words(("a", "b"), files)) < 400
    outside = tmp_path / "secret.md"
    outside.write_text("secret")
    here = tmp_path / "p"
    (here / ".wave" / "skills").mkdir(parents=True)
    (here / ".wave" / "skills" / "a.md").symlink_to(outside)
    loaded = load_pipeline(project(here, step("a"), head="skills: [a]\n"))
    assert [problem.code for problem in loaded.report.found] == ["missing_skill"]
    assert "secret" not in json.dumps(loaded.texts)


def test_older_manifests_list_skills_with_commands(tmp_path):
    manifest = MANIFEST.replace("runtime:", "skills: {speckit: {check: specify --version}}\nruntime:")
    found = load_pipeline(project(tmp_path, step("a"), manifest=manifest)).report.found
    assert {problem.code for problem in found} == {"missing_skill", "not_run"}


def test_what_another_program_chats_about_afterwards_is_no_warning(tmp_path):
    head = "chat_context: {artifact_summaries: [a], suggested_questions: [Why?], focus_areas: [x]}\n"
    assert not load_pipeline(project(tmp_path, step("a"), head=head)).report.found
