"""Loops and messages that a grant may cover: real shells run exactly the words that the analysis names."""

import random
import shutil
import subprocess

import pytest

from tests.support.sizes import size
from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from tests.unit.policy.gate_cases import context
from tests.unit.policy.test_gate import call, globs, judged
from workbench.policy.shell import inlined_text
from workbench.policy.shell.analysis import view_command

SHELLS = [found for name in ("bash", "dash") if (found := shutil.which(name))]
RUNS = size("WORKBENCH_LOOP_RUNS", 150, 20_000)
PROGRAMS = ("p1", "p2", "cat")
RECORDER = """#!/bin/sh
printf '%s\\0' "${0##*/}" "$@" "
" >> "$TRACE"
"""
"""Writes all words at once: programs of a pipeline run side by side."""


@pytest.fixture
def bench(tmp_path):
    """Return a function that runs a line in a shell and returns the words of each program that it started."""
    programs, work = tmp_path / "programs", tmp_path / "work"
    programs.mkdir()
    (work / "src").mkdir(parents=True)
    for name in ("a.py", "b.py", "src/c.py", "src/.d.py", "-x.py", "odd name.md", "z.md"):
        (work / name).write_text("")
    for name in PROGRAMS[:2]:
        (programs / name).write_text(RECORDER)
        (programs / name).chmod(0o755)
    (programs / "cat").symlink_to(shutil.which("cat"))
    trace = tmp_path / "trace"

    def run(shell, line):
        trace.write_text("")
        subprocess.run(
            [shell, "-c", "--", line], cwd=work, env={"PATH": str(programs), "TRACE": str(trace), "f": "OUTER"},
            stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        rows = trace.read_text("utf-8", "surrogateescape").split("\0\n\0")
        return [tuple(row.split("\0")) for row in rows if row]

    run.work = work
    return run


VALUES = [
    "a",
    "b",
    "./x",
    "-v",
    "*.py",
    "src/*.py",
    "?.py",
    "*.md",
    "*.none",
    "a:b",
    "x%",
    "done",
    "do",
    "in",
    "A=1",
    "$f",
    "'q'",
    "~",
    "{a,b}",
]
USES = ["$f", '"$f"', "${f}", '"${f}"', "pre$f", '"x $f y"', "$f.c", "$fx", "${f}x", "${f%.py}", "$f$f", "'$f'", "\\$f", "$$f", '"\\$f"', "$f[0]", "x=$f", "# $f"]  # fmt: skip
HEADS = ["p1", "p2 -l", "p1 a &&", "! p1", "$f", "p2 < $f; p1", "x=1 p1", "true &&", "f=2; p1", "p1 | p2", "(p1", "for g in 1 2; do p1", "if p1; then p2"]  # fmt: skip
FRAMES = [
    "for f in {values}; do {body}; done", "for f in {values}\ndo\n{body}\ndone", "p1; for f in {values}; do {body}; done; p2 {use}",
    "p2 {use}; for f in {values}; do {body}; done", "p1 \"for f in {values}; do {body}; done\"", "for f in {values}; do {body}; done | p2",
    "(for f in {values}; do {body}; done); p1 {use}", "if true; then for f in {values}; do {body}; done; fi", "for f in {values}; do {body}; done &",
    "p1 for f in {values}; do {body}; done", "# for f in {values}; do {body}; done\np1 {use}", "for f in {values}; do p1 done; {body}; done",
    "for f in {values}; do {body}; done; for f in c; do p2 {use}; done", "for f in {values}; do while p1; do break; done; {body}; done",
]  # fmt: skip
BODIES = ["{head} {use}", "{head} {use}; p2 {use}", "p1 x && {head} {use}", "{head} {use} {use}"]


def loop(chance):
    """Return a line with a loop, or with something that looks like one."""
    values = " ".join(
        chance.choice(VALUES[:9] if chance.random() < 0.7 else VALUES) for _ in range(chance.randint(1, 3))
    )
    uses = USES[:7] if chance.random() < 0.7 else USES
    heads = HEADS[:4] if chance.random() < 0.7 else HEADS
    body = chance.choice(BODIES).format(head=chance.choice(heads), use=chance.choice(uses))
    frames = FRAMES[:2] if chance.random() < 0.5 else FRAMES
    return chance.choice(frames).format(values=values, body=body, use=chance.choice(uses))


LINES = ["fix: x", "don't", 'say "x"', "(#3)", ")", "$(p2 hit)", "`p2 hit`", "EOF ", " EOF", "\\", "$f", "", "\t", "# x", "p2 hit", '")"; p2 hit; "', "'; p2 hit; '", "é…", "EOF)"]  # fmt: skip
MARKS = ["'EOF'", '"EOF"', "EOF", "\\EOF", "'E O'", "'EOF' x", "-'EOF'"]
PLACES = [
    'p1 -m "{m}"', 'p1 "{m}" && p2', "p1 '\"{m}\"'", 'p1 \\"{m}"', 'p1 # "{m}"', '# "{m}"\np1', 'p1 a"{m}"b', 'p1 "a {m} b"', "p1 {m}", 'p1 <<X\n"{m}"\nX',
    "p1 <<'X'\n\"{m}\"\nX", '"{m}" p1', 'x="{m}" p1', 'p1 "{m}" "{m}"', 'p1 $"{m}"', 'p1 "x"{m}"y"', 'p1 > "{m}"', '`p1 "{m}"`', '(p1 "{m}")',
    'for f in a; do p1 "{m}" $f; done',
]  # fmt: skip
FORMS = ["$(cat <<{mark}\n{body}\nEOF\n)", "$(cat <<{mark}\n{body}\nEOF)", "$(cat << {mark}\n{body}\nEOF\n  )", "$( cat <<{mark}\n{body}\nEOF\n)", "$(cat x <<{mark}\n{body}\nEOF\n)", "$(p2 <<{mark}\n{body}\nEOF\n)"]  # fmt: skip


def message(chance):
    """Return a line with a message from a here-document, or with something that looks like one."""
    body = "\n".join(chance.choice(LINES) for _ in range(chance.randint(0, 4)))
    form = chance.choice(FORMS[:1] if chance.random() < 0.6 else FORMS)
    text = form.format(mark=chance.choice(MARKS[:2] if chance.random() < 0.7 else MARKS), body=body)
    return chance.choice(PLACES[:2] if chance.random() < 0.4 else PLACES).replace("{m}", text)


@pytest.mark.parametrize(("make", "least"), [(loop, 6), (message, 8)], ids=["loops", "messages"])
def test_a_plain_line_starts_the_commands_that_the_analysis_names(bench, make, least):
    chance = random.Random(size("WORKBENCH_LOOP_SEED", 34, 34))
    plain = 0
    for _ in range(RUNS):
        line = make(chance)
        view = view_command(line, str(bench.work))
        if not view.plain or "\0" in line:
            continue
        plain += 1
        named = {simple.words for simple in view.commands}
        for shell in SHELLS:
            started = bench(shell, line)
            assert {words for words in started if words[0] in PROGRAMS} <= named, (shell, line)
    assert plain > RUNS / least, "too few lines were plain to say anything"


@each_row(
    ("line", "granted", "outcome"),
    [
        ("git commit -m \"$(cat <<'EOF'\nfix: don't (#3)\n\n$(rm -rf x) `y`\nEOF\n)\"", ["Bash(git commit *)"], "allowed"),
        ("git add a && git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\"", ["Bash(git commit *)", "Bash(git add *)"], "allowed"),
        ("git commit -m \"$(cat <<EOF\n$(id)\nEOF\n)\"", ["Bash(git commit *)"], "ask"),
        ("for f in a b; do echo $f; done", ["Bash(echo *)"], "allowed"),
        ("for file in *.py; do wc -l \"$file\"; done", ["Bash(wc *)"], "allowed"),
        ("for f in a b; do rm $f; done", ["Bash(echo *)"], "ask"),
        ("for f in a .envrc; do touch $f; done", ["Bash(touch *)"], "ask"),
        ("for f in /etc/passwd; do cat $f; done", ["Bash(cat *)"], "ask"),
        ("for f in -v -q; do ls $f; done", ["Bash(ls)"], "ask"),
        ("for http_proxy in a; do curl $http_proxy; done", ["Bash(curl *)"], "ask"),
        ("for f in rm ls; do $f x; done", ["Bash(rm *)", "Bash(ls *)"], "ask"),
        ("for f in a; do CI=$f ls; done", ["Bash(ls *)"], "ask"),
        ("ls \"for f in a; do ls $f; done\"", ["Bash(ls *)"], "ask"),
        ("for path in a; do cat $path; done", ["Bash(cat *)"], "ask"),
        ("if true; then git status; fi", ["Bash(git status)"], "allowed"),
        ("[ -f a.py ] && git status", ["Bash(git status)"], "allowed"),
        ("[ -f ../x ] && git status", ["Bash(git status)"], "ask"),
        ("true", ["Bash(git status)"], "ask"),
        ("cd src && git status", ["Bash(git *)", "Bash(cd *)"], "allowed"),
        ("cd src/deep && git log", ["Bash(git *)", "Bash(cd *)"], "allowed"),
        ("cd src && git status", ["Bash(git *)"], "ask"),
        ("cd lib && git status", ["Bash(git *)", "Bash(cd *)"], "ask"),
        ("cd lib/below && git status", ["Bash(git *)", "Bash(cd *)"], "ask"),
        ("cd bare && git status", ["Bash(git *)", "Bash(cd *)"], "ask"),
        ("cd lib; git status", ["Bash(git *)", "Bash(cd *)"], "ask"),
        ("cd link && git status", ["Bash(git *)", "Bash(cd *)"], "ask"),
    ],
)  # fmt: skip
def test_ordinary_lines_of_agents_need_one_rule_a_program(line, granted, outcome, place):
    verdict = judged(call(command=line), context(place, allow=globs(*granted))).verdict
    assert verdict.outcome == outcome, verdict.reason


@pytest.fixture
def place(tmp_path):
    for folder in (".git", "src/deep", "lib/.git", "lib/below", "bare/objects", "bare/refs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "bare/HEAD").write_text("")
    (tmp_path / "link").symlink_to("lib/below")
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize("line", ["for f in rm; do ls $f; done", "for f in a b; do git push $f; done"])
def test_a_denial_sees_each_round(place, line):
    where = context(
        place, allow=globs("Bash(ls *)", "Bash(git *)"), deny=globs("Bash(ls rm)", "Bash(git push b)")
    )
    assert judged(call(command=line), where).verdict.outcome == "denied"


def test_a_denial_does_not_read_the_text_of_a_message_as_a_command(place):
    line = "git commit -m \"$(cat <<'EOF'\nrm -rf build\nEOF\n)\""
    where = context(place, allow=globs("Bash(git *)"), deny=globs("Bash(rm *)"))
    assert judged(call(command=line), where).verdict.outcome == "allowed"


def test_too_many_rounds_and_odd_names_are_not_unrolled(place):
    for number in range(60):
        (place / f"n{number}.txt").write_text("")
    where = context(place, allow=globs("Bash(cat *)"))
    many = "for f in *.txt; do cat $f; done"
    assert judged(call(command=many), where).verdict.outcome == "ask"
    assert judged(call(command="for f in n1*.txt; do cat $f; done"), where).verdict.outcome == "allowed"
    (place / "n1 odd.txt").write_text("")
    assert judged(call(command="for f in n1*.txt; do cat $f; done"), where).verdict.outcome == "ask"
    literal = "for f in " + " ".join(f"x{number}" for number in range(51)) + "; do cat $f; done"
    assert judged(call(command=literal), where).verdict.outcome == "ask"
    long = "for f in " + " ".join(f"x{number}" for number in range(50)) + f"; do cat $f {'y' * 3000}; done"
    assert judged(call(command=long), where).verdict.outcome == "ask"


def test_an_escaped_quote_begins_no_message():
    line = "p1 \\\"$(cat <<'EOF'\na'b\nEOF\n)\" \\\"$(cat <<'EOF'\na'b\nEOF\n)\""
    assert inlined_text.with_inlined_messages(line) == line
    assert not view_command(line).plain


def test_the_shell_of_macos_gets_no_message_that_it_may_misread(monkeypatch):
    line = "git commit -m \"$(cat <<'EOF'\n{}\nEOF\n)\""
    assert view_command(line.format("it (fixes) x")).plain
    monkeypatch.setattr(inlined_text.sys, "platform", "darwin")
    for sign in "'\"()`\\":
        assert inlined_text.with_inlined_messages(line.format(sign)) == line.format(sign)
    assert inlined_text.with_inlined_messages(line.format("x")) == "git commit -m 'x'"
