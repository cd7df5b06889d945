"""A deny and programs that nobody listed: a later word that it matches may be run, so a human is asked."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.waits import PATIENCE
from tests.unit.policy.gate_cases import context, rule
from workbench.domain.values import PermissionPattern
from workbench.policy.gate import GateCall, ScreenedCall, judge_screened_call, screen_call
from workbench.policy.shell import analysis
from workbench.policy.shell.analysis import inner_command_view, takes_only_data, view_command
from workbench.policy.shell.risk_lists import DATA_TAKERS


def verdict(line, tmp_path, deny=("Bash(rm *)",), **changed):
    allow = (
        PermissionPattern(text="*"),
        *(PermissionPattern(text=f"Bash({simple.source})") for simple in view_command(line).commands),
    )
    patterns = {"deny": tuple(PermissionPattern(text=text) for text in deny), "allow": allow}
    where = context(tmp_path, **patterns | changed)
    passed = screen_call(GateCall(tool="run_in_terminal", parameters={"command": line}), where)
    return judge_screened_call(passed, where) if isinstance(passed, ScreenedCall) else passed


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
    if view_command(line).plain:
        assert said.step == "grants"
        assert said.reason == "the denial Bash(rm *) may apply: a later word of it may run as a command"
    assert verdict(line, tmp_path, can_ask=False).outcome == "denied"


@pytest.mark.parametrize(
    "line", [line for line in WRAPPED if view_command(line).plain and "/bin" not in line]
)
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
    from msgspec.structs import replace

    seen = view_command("somewrap -m rm")
    known = replace(seen, commands=tuple(replace(simple, text=frozenset({2})) for simple in seen.commands))
    assert "rm" in inner_command_view(seen).deny_texts
    assert inner_command_view(known) is None


def test_of_a_line_with_too_much_only_a_loose_search_is_made():
    line = "somewrap " + " ".join(f"word{number}" for number in range(900)) + " rm a"
    seen = inner_command_view(view_command(line))
    assert not seen.has_all_deny_texts
    several = inner_command_view(
        view_command("; ".join(f"somewrap{number} " + f"word{number} " * 60 for number in range(20)))
    )
    assert not several.has_all_deny_texts


def test_a_line_of_programs_that_take_data_has_no_inner_commands():
    assert inner_command_view(view_command("echo a; ls | cat")) is None


def test_a_program_with_a_folder_is_not_the_one_that_is_listed():
    assert takes_only_data("echo")
    assert not takes_only_data("./echo")
    assert not takes_only_data("yarn")


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
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert not (tmp_path / "yes").exists()


def test_no_program_that_runs_others_is_listed():
    from workbench.policy.shell.risk_lists import EVALUATORS, INTERPRETERS, SHELL_LIKE_PROGRAMS, WRAPPERS

    assert not DATA_TAKERS & (WRAPPERS | SHELL_LIKE_PROGRAMS | INTERPRETERS.keys() | EVALUATORS)
    assert not any(re.search("exec|wrap", name) for name in DATA_TAKERS)
    assert analysis.takes_only_data("git")
