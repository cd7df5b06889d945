"""A real shell splits generated lines into words and commands: where the analysis is sure, it says the same.

The shell runs one function for every program, which writes down its words; nothing else can be started. One
process reads all of the lines, so thousands of them take a second or two.
"""

import random
import shutil
import subprocess

import pytest

from tests.support.sizes import size
from workbench.policy.shell.analysis import view_command

BASH = shutil.which("bash")
LINES = size("WORKBENCH_SHELL_WORDS", 800, 20_000)
PROGRAMS = ("git", "ls", "cat", "grep", "head", "wc", "sort")
WORDS = [
    "log", "-n", "-3", "--oneline", "a.txt", "src/a-b.c", "'a b'", '"c d"', "a\\ b", "''", '""', "a'b'c", 'x"y z"w', "\\$x", "\\`id\\`",
    "'$(id)'", "'`id`'", '"a;b|c&d"', "'a\nb'", '"it\'s"', "a\\;b", "-", "--", "x=1", "a,b", "{a}", "a{b", "a}b", "%s", "@", "+x", "1",
    "^", "a:b", "a#b", "\\#c", "'#'", "é", '"é ü"', "\\\\", "'\\'", '"\\\\"', '"\\a"', "a\\\nb", "$'a\\tb'", "$'\\x41\\'b'", "$'\\101'",
    "!", "a!b", "'*'", '"?"', "\\*", "\\~", "'~'", '"{a,b}"', "a=b=c", "'<'", '">"', "\\>", "\\&", "'&&'", "[", "]", "in", "do", "if",
]  # fmt: skip
JOINTS = [
    " ; ",
    ";",
    " && ",
    "&&",
    " || ",
    "|",
    " | ",
    "\n",
    " \n\n",
    " # why\n",
    " ;\\\n",
    " &&\\\n  ",
    " &&\n",
    " |\n",
]
TAILS = [
    "",
    "",
    "",
    " 2>&1",
    " >/dev/null",
    " 2>/dev/null",
    " </dev/null",
    " <<< 'x y'",
    " <<'E'\n$(id) `id`\nE",
    " <<E\nplain\nE",
    " - 2>&1",
]
LOOSE = [
    "$x",
    "$(id)",
    "`id`",
    "*",
    "?",
    "~",
    "{a,b}",
    ">out",
    "<(id)",
    "${x:-y}",
    "'",
    '"',
    "(",
    ")",
    "&",
    ";;",
    "$((1))",
    "\\",
    "<<E",
    "}",
    "{",
]
SPEAK = "".join(
    f"{name}() {{ printf '%s\\0' {name} \"$@\" $'\\n' >> said/$LINE.$BASHPID; }}\n" for name in PROGRAMS
)
"""Each process of a pipeline writes a file of its own: they run at the same time."""


def made(some: random.Random) -> str:
    """Return a line: mostly plain commands, in one of six with something that is not plain."""
    pieces: list[str] = []
    for _ in range(some.randint(1, 4)):
        words = [some.choice(PROGRAMS), *(some.choice(WORDS) for _ in range(some.randint(0, 4)))]
        if some.random() < 0.04:
            words.insert(some.randint(0, len(words)), some.choice(LOOSE))
        pieces += [" ".join(words) + some.choice(TAILS), some.choice(JOINTS)]
    line = "".join(pieces[:-1])
    return line if "<<" not in line or line.count("\n") > 1 else line + "\n"


def spoken(lines: list[str], folder) -> list[set[tuple[str, ...]]]:
    """Return of every line the commands that a shell runs for it."""
    (folder / "said").mkdir()
    script = [SPEAK]
    for number, line in enumerate(lines):
        (folder / f"line{number}").write_text(line)
        script.append(f"LINE={number}; (. ./line{number}) </dev/null >/dev/null 2>&1\n")
    (folder / "all").write_text("".join(script))
    subprocess.run(
        [BASH, "--norc", "--noprofile", "./all"], cwd=folder, timeout=300, check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"PATH": "/nowhere", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    said: list[set[tuple[str, ...]]] = [set() for _ in lines]
    for path in (folder / "said").iterdir():
        records = path.read_bytes().decode("utf-8", "surrogateescape").split("\0\n\0")[:-1]
        said[int(path.name.split(".")[0])].update(tuple(record.split("\0")) for record in records)
    return said


@pytest.mark.spec(48)
@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_where_the_analysis_is_sure_a_shell_reads_the_same_words(tmp_path):
    some = random.Random(20261122)
    lines = [made(some) for _ in range(LINES)]
    seen = [view_command(line) for line in lines]
    sure = [(line, found) for line, found in zip(lines, seen, strict=True) if found.plain]
    assert len(sure) > LINES / 3
    for (line, found), said in zip(sure, spoken([line for line, _ in sure], tmp_path), strict=True):
        named = {simple.words for simple in found.commands}
        assert said <= named, line
        assert said == named or "||" in line, line
