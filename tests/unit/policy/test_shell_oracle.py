"""What the analysis lets pass, run by a real shell whose programs are shims: nothing runs that it did not name.

A sample of lines at each commit, 20,000 in a campaign; WORKBENCH_SHELL_RUNS sets another number.
"""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.sizes import size
from tests.unit.policy.gate_cases import SHELL
from tests.unit.policy.test_shell import PLAIN
from workbench.policy.globs import Glob, matches
from workbench.policy.shell import view

BASH = shutil.which("bash")
RUNS = size("WORKBENCH_SHELL_RUNS", 1500, 20_000)
ALLOWED = ("git", "ls", "cat")
PATTERNS = [Glob(text=text) for text in ("Bash(git log *)", "Bash(ls *)", "Bash(cat)", "Bash([ *)")]
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
        simple.words[0] for line in PLAIN for simple in view(line).commands if "/" not in simple.words[0]
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
        stdin=subprocess.DEVNULL, capture_output=True, timeout=20,
    )  # fmt: skip
    del done
    return set(trace.read_text().split()), [path.name for path in Path(work).iterdir()]


def is_allowed(line):
    seen = view(line)
    return (
        bool(line) and any(matches(pattern, SHELL, {"command": line}, {}, seen) for pattern in PATTERNS)
    ) or _covered(seen)


def _covered(seen):
    from workbench.policy.globs import covering

    return seen.plain and all(covering(PATTERNS, SHELL, simple) for simple in seen.commands)


def lines(count, seed):
    some = random.Random(seed)
    for _ in range(count):
        begin = some.choice(["git log", "ls", "ls -l", "cat", ""])
        yield begin + "".join(some.choice(PIECES) for _ in range(some.randint(0, 7)))


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_nothing_runs_that_was_not_allowed(shims, tmp_path):
    passed = 0
    for line in lines(RUNS, seed=20260101):
        if not is_allowed(line):
            continue
        passed += 1
        programs, files = ran(line, shims, tmp_path)
        assert programs <= set(ALLOWED), line
        assert files == [], line
    assert passed > RUNS / 100  # a campaign in which everything is asked about proves nothing


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
    for number in range(RUNS):
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
    assert programs <= {simple.words[0] for simple in view(line).commands}
    assert sorted(files) == ["a.txt", "src"]
