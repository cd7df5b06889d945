"""What the analysis lets pass, run by a real shell whose programs are shims: nothing runs that it did not name.

A sample of lines at each commit, 20,000 in a campaign; WORKBENCH_SHELL_RUNS sets another number. Lines that are
really run count, WORKBENCH_SHELL_SEED begins elsewhere.
"""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.sizes import size
from tests.support.throwaway import Throwaway
from tests.support.waits import PATIENCE
from tests.unit.policy import fuzzed_lines
from tests.unit.policy.gate_cases import SHELL
from tests.unit.policy.test_shell import PLAIN
from workbench.domain.values import PermissionPattern
from workbench.policy.permissions import permission_matches
from workbench.policy.shell.analysis import view_command
from workbench.policy.shell.sed_awk_scripts import awk_risk, sed_risk

BASH = shutil.which("bash")
RUNS = size("WORKBENCH_SHELL_RUNS", 200, 20_000)
SEED = size("WORKBENCH_SHELL_SEED", 20_261_122, 20_261_122)
SHARE = RUNS // 4
"""Lines of each kind: those that grants cover, those with something hidden, scripts of awk, scripts of sed."""

MOST_MADE = 60 * SHARE
ALLOWED = ("git", "ls", "cat")
PATTERNS = [
    PermissionPattern(text=text) for text in ("Bash(git log *)", "Bash(ls *)", "Bash(cat)", "Bash([ *)")
]
PROGRAMS = (*ALLOWED, "evil", "sh", "env", "xargs", "sudo", "python", "find", "tee")

PIECES = [
    "git log", "ls", "cat", "ls -l", "git log -3", "evil", "evil x", " ", " ", " ", "\t", ";", "&&", "||", "|", "|&", "&",
    "\n", "$(", "${", ")", "}", "`", "'", '"', '"', "\\", "\\\n", ">", ">>", ">|", "<", "<<E\n", "<<'E'\n", "\nE\n", "<<<",
    "<(", ">(", "(", "{ ", "; }", "#", "!", "! ", "$x", "${x:-evil}", "$'", "\\x65", '$"', "*", "?", "[", "]", "~", "=",
    "x=", "PATH=.", "BASH_ENV=evil", "if ", "; then ", "; fi", "for x in a; do ", "; done", "while ", "case a in a) ",
    ";; esac", "f() { ", "2>&1", ">/dev/null", "&>/dev/null", ">&2", "2>&-", "</dev/null", ">out", "2>out", "&>out", ">&out",
    "<>out", "env ", "sudo ", "xargs ", "sh -c ", "eval ", "exec ", "command ", "time ", "coproc ", "find . -exec ", "tee out",
    "{evil,}", "{a,b}", "$((", "))", "[[ ", " ]]", "[ ", " ]", "--", "-c", "a", "b\u00e9", "\r", "\x00", "\u00a0", "\u202e", ",",
]  # fmt: skip


@pytest.fixture(scope="module")
def shims(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shims")
    heads = {
        simple.words[0]
        for line in PLAIN
        for simple in view_command(line).commands
        if "/" not in simple.words[0]
    }
    for name in (*PROGRAMS, *heads):
        if name in ("[", ":"):
            continue
        path = folder / name
        path.write_text(f'#!/bin/sh\necho {name} >> "$TRACE"\nexit 0\n')
        path.chmod(0o755)
    return folder


def ran(line, shims, work):
    """Return the programs that a shell started for a line, and the files that it made."""
    trace = shims.parent / "trace"
    trace.write_text("")
    done = subprocess.run(
        [BASH, "-c", "--", line], cwd=work, env={"PATH": str(shims), "TRACE": str(trace), "HOME": str(work)},
        stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    del done
    return set(trace.read_text().split()), [path.name for path in Path(work).iterdir()]


def is_allowed(line):
    seen = view_command(line)
    return (
        bool(line)
        and any(permission_matches(pattern, SHELL, {"command": line}, {}, seen) for pattern in PATTERNS)
    ) or _covered(seen)


def _covered(seen):
    from workbench.policy.permissions import first_permission_covering

    return seen.plain and all(first_permission_covering(PATTERNS, SHELL, simple) for simple in seen.commands)


def executed(make, may_run, seed=SEED):
    """Yield as many lines as are to be run; most of what is made has to be among them."""
    some, left = random.Random(seed), SHARE
    for _ in range(MOST_MADE):
        line = make(some)
        if may_run(line):
            yield line
            left -= 1
        if left == 0:
            return
    raise AssertionError("too few of the lines that were made could be run, which proves nothing")


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_what_grants_cover_runs_nothing_else_in_any_shell(tmp_path):
    bench = Throwaway(tmp_path, PROGRAMS)
    shells = [shell for shell in (BASH, shutil.which("dash")) if shell]
    for line in executed(fuzzed_lines.shell, lambda line: is_allowed(line) and "\0" not in line):
        for shell in shells:
            programs, files = bench.run(shell, "-c", "--", line)
            assert {name for name, _ in programs} <= set(ALLOWED), (shell, line)
            assert files == [], (shell, line)
    assert bench.ended <= SHARE / 20


def denies(line, name, word=""):
    text = f"Bash({name} {word}*)" if word else f"Bash({name} *)"
    return permission_matches(
        PermissionPattern(text=text), SHELL, {"command": line}, {}, view_command(line), purpose="deny"
    )


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_a_deny_sees_every_program_that_a_shell_starts(tmp_path):
    bench = Throwaway(tmp_path, ["evil", "ls", "cat", "git"], real=True)
    (bench.programs / "here").mkdir()
    started = 0
    for line in executed(fuzzed_lines.hidden, lambda line: "\0" not in line):
        programs, _ = bench.run(BASH, "-c", "--", line)
        for name, word in dict.fromkeys(programs):
            started += 1
            assert denies(line, name), (name, line)
            assert word != "push" or denies(line, name, "push"), line
    assert started > SHARE / 2
    assert bench.ended <= SHARE / 20


AWKS = [found for name in ("mawk", "gawk") if (found := shutil.which(name))]


@pytest.mark.skipif(not AWKS, reason="there is neither mawk nor gawk")
def test_what_passes_as_awk_writes_and_runs_nothing(tmp_path):
    bench = Throwaway(tmp_path, ["evil"])
    for script in executed(fuzzed_lines.awk, lambda script: awk_risk(["awk", script]) is None):
        for awk in AWKS:
            assert bench.run(awk, script) == ([], []), (awk, script)
    assert bench.ended <= SHARE / 20


SED = shutil.which("sed")


@pytest.mark.skipif(SED is None, reason="there is no sed")
def test_what_passes_as_sed_writes_and_runs_nothing(tmp_path):
    bench = Throwaway(tmp_path, ["evil"])
    for words in executed(fuzzed_lines.sed, lambda words: sed_risk(words) is None):
        assert bench.run(SED, *words[1:]) == ([], []), words
    assert bench.ended <= SHARE / 20


def lines(count, seed):
    some = random.Random(seed)
    for _ in range(count):
        begin = some.choice(["git log", "ls", "ls -l", "cat", ""])
        yield begin + "".join(some.choice(PIECES) for _ in range(some.randint(0, 7)))


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_nothing_runs_that_was_not_allowed(shims, tmp_path):
    passed = 0
    for line in lines(3 * RUNS, seed=20260101):
        if not is_allowed(line):
            continue
        passed += 1
        programs, files = ran(line, shims, tmp_path)
        assert programs <= set(ALLOWED), line
        assert files == [], line
    assert passed > RUNS / 33  # a campaign in which everything is asked about proves nothing


HOSTILE = [
    "{};evil", "{}\nevil", "{}&&evil", "{}||evil", "{}|evil", "{}|&evil", "{}&evil", "{} $(evil)", "{} `evil`", '{} "$(evil)"',
    "{} <(evil)", "{} >out", "{} >>out", "{} 2>out", "{} &>out", "{} >|out", "{} <>out", "env {}", "sudo {}", "{}|xargs evil",
    "{}|sh", "eval {}", "f(){{ evil;}};{}", "{} ${{x:-$(evil)}}", "(evil);{}", "{{ evil;}};{}", "if evil;then {};fi", "{} *",
    "PATH=. {}", "{};\\\nevil", "{} $'a'$(evil)", "{} <<E\n$(evil)\nE", "{} <<E\nE\nevil", "{} #\nevil", "time {}", "exec {}",
    "{} 'a\nb' $(evil)", "x=$(evil) {}", "{} {{a,$(evil)}}", "{} \\$(evil)\\`evil`", "! evil;{}", "{} $((`evil`))",
]  # fmt: skip
NOISE = [
    "",
    " ",
    "\t",
    " -x",
    " 'a b'",
    ' "c"',
    " a\\ b",
    " 2>&1",
    " >/dev/null",
    " # c\n",
    " \\\n",
    " x;ls",
    "|cat",
]


def test_mutations_of_allowed_commands_that_run_more_are_never_allowed():
    some = random.Random(7)
    for number in range(3 * RUNS):
        base = some.choice(["git log", "ls", "ls -l a", "cat"]) + some.choice(NOISE)
        if "#" in base:
            base = base.split(" #")[0]
        line = HOSTILE[number % len(HOSTILE)].format(base) + some.choice(NOISE)
        assert not is_allowed(line), line


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.parametrize("line", [line for line in PLAIN if "while" not in line and "./" not in line])
def test_a_plain_line_runs_what_it_names_and_writes_nothing(line, shims, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "a.txt").write_text("")
    programs, files = ran(line, shims, tmp_path)
    assert programs <= {simple.words[0] for simple in view_command(line).commands}
    assert sorted(files) == ["a.txt", "src"]
