"""A deny and programs that nobody listed: a later word that it matches may be run, so a human is asked."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.unit.policy.gate_cases import context, rule
from workbench.policy import shell_inner
from workbench.policy.gate import GateCall, Passed, after_hooks, before_hooks
from workbench.policy.globs import Glob
from workbench.policy.shell import view
from workbench.policy.shell_inner import DATA_TAKERS, inner_view, takes_data


def verdict(line, tmp_path, deny=("Bash(rm *)",), **changed):
    allow = (Glob(text="*"), *(Glob(text=f"Bash({simple.source})") for simple in view(line).commands))
    patterns = {"deny": tuple(Glob(text=text) for text in deny), "allow": allow}
    where = context(tmp_path, **patterns | changed)
    passed = before_hooks(GateCall(tool="run_in_terminal", parameters={"command": line}), where)
    return after_hooks(passed, where) if isinstance(passed, Passed) else passed


WRAPPED = [
    "x86_64 rm a", "i386 rm -rf a", "uclampset -m 1 rm a", "runcon -t x rm a", "systemd-cat rm a", "bear -- rm a", "scan-build rm a",
    "enosys -s open rm a", "pipesz -e rm a", "coresched new -- rm a", "ccache rm a", "coreutils --coreutils-prog=rm a", "somewrap /bin/rm a",
    "ls; somewrap rm a", "somewrap --x=1 -- rm a", "somewrap 'rm a'", "somewrap --run='ls; rm a'", "somewrap nice rm a", "./ls rm a",
    "somewrap -c rm", "cat a | somewrap rm a", "yarn rm a", "somewrap X=rm a", "git log && somewrap env rm a", "somewrap \"a\nrm b\"",
]  # fmt: skip


@pytest.mark.parametrize("line", WRAPPED)
def test_a_denied_program_behind_one_that_nobody_listed_asks(line, tmp_path):
    said = verdict(line, tmp_path)
    assert said.outcome == "ask"
    if view(line).plain:
        assert said.step == "grants"
        assert said.reason == "a deny on Bash(rm *) may concern this: a later word of it may be run"
    assert verdict(line, tmp_path, can_ask=False).outcome == "denied"


@pytest.mark.parametrize("line", [line for line in WRAPPED if view(line).plain and "/bin" not in line])
def test_without_a_deny_that_matches_nothing_changes(line, tmp_path):
    for deny in ((), ("Bash(shutdown *)",), ("Read(other)",)):
        assert verdict(line, tmp_path, deny=deny).outcome == "allowed", deny


@pytest.mark.parametrize(
    "line",
    ["echo rm a", "printf '%s' rm a", "grep -rn rm a", "cat rm", "git commit -m 'rm a'", "git log -- rm", "docker ps --rm",
     "find . -name rm", "npm test rm", "ls rm", "touch rm; ls", "somewrap --rm a", "somewrap rmdir a", "somewrap form a"],
)  # fmt: skip
def test_words_that_are_data_ask_nobody(line, tmp_path):
    assert verdict(line, tmp_path, deny=("Bash(rm *)", "Bash(git push*)")).outcome == "allowed"


def test_a_deny_that_is_certain_still_denies(tmp_path):
    assert verdict("rm a", tmp_path).outcome == "denied"
    assert verdict("env rm a", tmp_path).outcome == "denied"


def test_a_rule_that_denies_counts_too(tmp_path):
    denying = rule(id="R7", effect="deny", pattern="Bash(rm *)")
    assert verdict("somewrap rm a", tmp_path, deny=(), rules=(denying,)).rule == "R7"
    matching = rule(id="R8", effect="deny", pattern_kind="regex", pattern=r'"command":"rm ')
    said = verdict("somewrap rm a", tmp_path, deny=(), rules=(matching,))
    assert (said.outcome, said.rule) == ("ask", "R8")
    assert verdict("somewrap ls a", tmp_path, deny=(), rules=(denying, matching)).outcome == "allowed"


def test_a_link_to_a_denied_program_counts_as_that_program(tmp_path):
    (tmp_path / "rm").write_text("")
    (tmp_path / "tidy").symlink_to("rm")
    assert verdict("somewrap ./tidy a", tmp_path).outcome == "ask"


def test_a_word_that_is_known_to_be_text_is_none(monkeypatch):
    from dataclasses import replace

    seen = view("somewrap -m rm")
    known = replace(seen, commands=tuple(replace(simple, text=frozenset({2})) for simple in seen.commands))
    assert "rm" in inner_view(seen).reach
    assert inner_view(known) is None


def test_of_a_line_with_too_much_only_a_loose_search_is_made():
    line = "somewrap " + " ".join(f"word{number}" for number in range(900)) + " rm a"
    seen = inner_view(view(line))
    assert not seen.is_reach_whole
    several = inner_view(
        view("; ".join(f"somewrap{number} " + f"word{number} " * 60 for number in range(20)))
    )
    assert not several.is_reach_whole


def test_a_line_of_programs_that_take_data_has_no_inner_commands():
    assert inner_view(view("echo a; ls | cat")) is None


def test_a_program_with_a_folder_is_not_the_one_that_is_listed():
    assert takes_data("echo")
    assert not takes_data("./echo")
    assert not takes_data("yarn")


def installed(name):
    return next((path for folder in ("/bin", "/usr/bin") if (path := Path(folder, name)).exists()), None)


@pytest.mark.parametrize(
    "name",
    ["echo", "cat", "ls", "printf", "basename", "head", "stat", "touch", "wc", "sort", "mkdir", "expr"],
)
def test_what_is_listed_runs_nothing_that_its_words_name(name, tmp_path):
    """Run it with a program of ours as its only word: nothing of it happens."""
    program = tmp_path / "ran"
    program.write_text(f"#!/bin/sh\necho > {tmp_path}/yes\n")
    program.chmod(0o755)
    if installed(name) is None:
        pytest.skip(f"{name} is not installed here")
    subprocess.run(
        [installed(name), str(program)],
        cwd=tmp_path,
        capture_output=True,
        timeout=20,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert not (tmp_path / "yes").exists()


def test_no_program_that_runs_others_is_listed():
    from workbench.policy.shell_lists import EVALUATORS, INTERPRETERS, SHELL_LIKE, WRAPPERS

    assert not DATA_TAKERS & (WRAPPERS | SHELL_LIKE | INTERPRETERS.keys() | EVALUATORS)
    assert not any(re.search("exec|wrap", name) for name in DATA_TAKERS)
    assert shell_inner.takes_data("git")
