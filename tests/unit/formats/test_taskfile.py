"""Tasks of a Taskfile as steps, what does not map, and sub-agents as personas."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from workflow_files import SUB_AGENT

from tests.support.growth import bounded_work
from tests.support.tables import each_row
from workbench.formats.workflows.sub_agent import SubAgentRefused, read_sub_agent
from workbench.formats.workflows.taskfile import TaskfileRefused, read_taskfile


def tasks(text, head="version: '3'\n"):
    return f"{head}tasks:\n" + "".join(f"  {line}\n" for line in text.splitlines())


def steps(text, task="", folder="", **more):
    return {
        step["id"]: (
            step.get("dependencies", []),
            step["exec"]["source"] if "exec" in step else step["gate"]["prompt"],
        )
        for step in read_taskfile(tasks(text, **more), task, folder).steps
    }


def test_dependencies_come_first_and_one_that_two_need_is_one_step():
    found = steps(
        "default: {deps: [a, b], cmds: [echo d]}\na: {deps: [gen], cmds: [echo a]}\nb: {deps: [gen], cmds: [echo b]}\ngen: echo g\n"
    )
    assert found == {
        "gen": ([], "echo g"), "a": (["gen"], "echo a"), "b": (["gen"], "echo b"), "default": (["a", "b"], "echo d"),
    }  # fmt: skip


def test_a_task_that_is_called_runs_between_the_commands_each_time():
    found = steps("default:\n  cmds: [echo 1, {task: a}, echo 2, {task: a}]\na: [echo a]\n")
    assert found == {
        "default": ([], "echo 1"), "a": (["default"], "echo a"), "default-2": (["a"], "echo 2"),
        "a-2": (["default-2"], "echo a"),
    }  # fmt: skip


def test_only_what_a_task_needs_is_imported():
    assert [*steps("build: go build\nclean: rm -r out\n", "build")] == ["build"]


@pytest.mark.parametrize(
    "text", ["echo a \\", "echo a \\\n", "echo a \\\\", "echo a # b \\", "echo a", "(echo a) \\\n"]
)
@pytest.mark.parametrize("form", [
    "cmds: [{0}, echo b]", "cmds: [{{cmd: {0}, ignore_error: true}}, echo b]",
    "env: {{V: {{sh: {0}}}}}, cmds: [echo $V, echo b]",
    "vars: {{V: {{sh: {0}}}}}, cmds: ['echo {{{{.V}}}}', echo b]",
])  # fmt: skip
def test_a_command_that_ends_in_a_backslash_prints_what_it_prints_alone(text, form):
    def printed(source):
        return subprocess.run(["/bin/sh", "-c", source], capture_output=True, text=True, check=True).stdout

    source = steps(f"default: {{{form.format(json.dumps(text))}}}\n")["default"][1]
    assert printed(source).split() == [*printed(text).split(), "b"]


def test_each_command_has_a_shell_of_its_own_and_the_first_failure_ends_the_step():
    text = (
        'default:\n  dir: sub\n  env: {A: "x y"}\n  preconditions: [{sh: test -f a, msg: no a}]\n'
        "  cmds:\n    - cd in && ls\n    - {cmd: 'false', ignore_error: true}\n    - '(echo b) # c'\n"
    )
    assert steps(text)["default"][1].splitlines() == [
        "set -e", "cd sub", "export A='x y'", "(test -f a) || { echo 'no a' >&2; exit 1; }",
        "(cd in && ls)", "(false) || true", "(", "(echo b) # c", ")",
    ]  # fmt: skip
    assert steps("default: echo a\n", folder="tools")["default"][1].splitlines() == [
        "set -e",
        "cd tools",
        "(echo a)",
    ]


HEAD = "version: '3'\nvars: {BIN: shop, TAG: {sh: git describe}, OUT: 'out/{{.BIN}}', YES: true}\n"


@each_row("command, source", [
    ("echo {{.BIN}} {{ .OUT }}", "echo shop out/shop"), ("echo {{.TAG}}", "echo $(git describe)"),
    ("echo {{.NONE | default \"x\"}} {{default 'y' .BIN}}", "echo x shop"), ("go test {{.CLI_ARGS}}", "go test {{ input }}"),
    ("echo {{.TASK}} {{.YES}}", "echo default true"), ("echo $HOME `id`", "echo $HOME `id`"),
])  # fmt: skip
def test_variables_are_filled(command, source):
    assert (
        steps(
            f"default: [{command!r}]\n" if "'" not in command else f"default:\n  - >-\n    {command}\n",
            head=HEAD,
        )["default"][1]
        == source
    )


def test_variables_of_a_call_count_before_those_of_the_task():
    found = steps(
        "default: [{task: a, vars: {X: '{{.BIN}}-{{.CLI_ARGS}}'}}]\na: {vars: {X: own}, cmds: ['echo {{.X}}']}\n",
        head=HEAD,
    )
    assert found["a"][1] == "echo shop-{{ input }}"


def test_a_prompt_is_a_gate():
    found = read_taskfile(tasks("default: {prompt: 'Sure?', cmds: [echo a]}\n")).steps
    assert [step["id"] for step in found] == ["default-ask", "default"]
    assert found[0]["gate"]["choices"][1] == {"key": "n", "label": "stop", "target": "_fail"}


@each_row("text, said", [
    ("default: {cmds: [{for: [a], cmd: echo}]}", "“for” of a command"), ("default: {cmds: [{defer: x}]}", "“defer”"),
    ("default: {platforms: [linux], cmds: [a]}", "“platforms”"), ("default: [{task: 'docs:build'}]", "included files"),
    ("default: ['{{OS}}']", "{{OS}} is not a variable"), ("default: {vars: {X: [1]}, cmds: ['{{.X}}']}", "is a list"),
    ("default: ['{{.A}}']\nx: {vars: {A: 1}}", "is not a variable"), ("default: {dir: /etc, cmds: [a]}", "leads out"),
    ("default: {dir: ../x, cmds: [a]}", "leads out"), ("default: {deps: [a]}\na: {deps: [default]}", "needs itself"),
    ("default: {cmds: []}", "has no commands"), ("default: [{task: nope}]", "no task “nope”"),
    ("default: {vars: {A: {sh: x}}, cmds: [\"echo '{{.A}}'\"]}", "inside single quotes"),
    ("default: {dotenv: [.env], cmds: [a]}", "“dotenv”"), ("default: {env: {'A B': x}, cmds: [a]}", "is not a name"),
    ("default: {dir: {sh: pwd}, cmds: [a]}", "dir is not a text"),
    ("default: {vars: {A: '{'}, cmds: ['{{.A}}{{.A}} env.HOME }}']}", "which a pipeline would fill in"),
    ("default: {preconditions: [{sh: a, msg: '{{.A}}'}], cmds: [a]}", "{{.A}} is not a variable"),
])  # fmt: skip
def test_what_would_run_otherwise_is_refused_with_its_line(text, said):
    with pytest.raises(TaskfileRefused, match=said.replace("{", r"\{").replace("}", r"\}")):
        read_taskfile(tasks(text))


def test_what_only_skips_work_is_left_out_and_said():
    found = read_taskfile(tasks("default: {sources: [a], status: [b], silent: true, cmds: [c]}\n"))
    assert [note.partition(": ")[2].partition(":")[0] for note in found.notes] == ["sources", "status"]


def test_without_a_default_a_task_has_to_be_named():
    with pytest.raises(TaskfileRefused) as refused:
        read_taskfile(tasks("a: x\nb: {cmds: [y], internal: true}\nc: z\n"))
    assert refused.value.tasks == ("a", "c")


CALLS = "\n".join(f"t{n}: {{cmds: [{{task: t{n + 1}}}, {{task: t{n + 1}}}]}}" for n in range(40))
VALUES = "vars: {" + ", ".join(f"V{n}: '" + f"{{{{.V{n + 1}}}}}" * 50 + "'" for n in range(40)) + "}\n"


@each_row("text, head, task", [
    (CALLS + "\nt40: {cmds: []}", "version: '3'\n", "t0"), (CALLS + "\nt40: echo", "version: '3'\n", "t0"),
    ("default: ['{{.V0}}']", "version: '3'\n" + VALUES, ""), ("a: &a [*a]", "", ""), ("- x\n", "", ""),
    ("default: [" + "[" * 5000, "", ""), ("default: [!x a]", "", ""),
])  # fmt: skip
def test_what_multiplies_itself_comes_to_an_end(text, head, task):
    with bounded_work(), pytest.raises(TaskfileRefused):
        read_taskfile(tasks(text, head), task)


def test_a_sub_agent_is_a_persona():
    found = read_sub_agent(SUB_AGENT)
    assert (found.name, found.description) == ("reviewer", "Reads changes: finds what is risky")
    assert (found.allowed, found.model) == (("Read", "Grep", "Bash(git diff *)"), "")
    assert found.prompt == "You read changes.\n\nSay what is risky.\n"
    assert [note.partition(":")[0] for note in found.notes] == ["model"]


@each_row("front, allowed, denied, model, notes", [
    ("tools: [Read, 'Bash(a, b)']", ("Read", "Bash(a, b)"), (), "", 0),
    ("disallowedTools: Write\nmodel: claude-x-1", None, ("Write",), "claude-x-1", 0),
    ("tools:\nmodel: inherit\nhooks: {a: b}\npermissionMode: plan", (), (), "", 2),
])  # fmt: skip
def test_what_a_sub_agent_may_do(front, allowed, denied, model, notes):
    found = read_sub_agent(f"---\nname: a b/../c\ndescription: d\n{front}\n---\nbody\n")
    assert (found.name, found.allowed, found.denied, found.model) == ("a-b-c", allowed, denied, model)
    assert len(found.notes) == notes


@each_row("text", ["---\nname: ../\n---\nx", "---\nname: [\n---\nx", "words", "---\ndescription: d\n---\nx"])
def test_what_is_no_sub_agent_says_why(text):
    with pytest.raises(SubAgentRefused):
        read_sub_agent(text)
