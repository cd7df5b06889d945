"""How many commands of real sessions ask: `python -m benchmarks.sandbox_questions FILE [--without SOURCE]`.

FILE is JSON, also packed by gzip: a list of commands, or of pairs of a source and a command. A line that
gives a patch to `apply_patch` is a change of files and left out; `zsh -lc LINE` counts as the line inside.
Each different command asks once.

- today: without rules each line asks.
- with rules: after its first question each simple command has the exact rule, or a perfect one: of a program,
  with its sub-command, whatever follows. A line that no rule can cover asks each time.
- ask with a sandbox: rules allow inside as well, so lines that need more ask again.
- auto with a sandbox: what the gate still asks, and why (aim: at most 10 %).

Then the same commands as 5,000 different questions of a journal, counted by `sandbox backtest` (aim: 200 ms
of processor time).

The workspace is the folder to which most `cd` of a source go, else /w; commands start in it.
"""

import argparse
import gzip
import json
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from tests.support.asked_commands import ask, session
from workbench.host.sandbox_backtest import MOST_COMMANDS, backtest
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.policy.gate import GateCall, GateContext, ScreenedCall, judge_screened_call, screen_call
from workbench.policy.levels import SandboxState
from workbench.policy.shell.analysis import names_patch_program, view_command
from workbench.policy.shell.risk_lists import program_name
from workbench.policy.shell.sandbox_needs import line_needs
from workbench.policy.shell.scanner import scan_commands
from workbench.tools.execution import RunInTerminal

AIM, AIM_MS = 0.10, 200


class Line(NamedTuple):
    """A command of a source."""

    source: str
    text: str


def read_lines(path: Path) -> list[Line]:
    """Return the different commands of a file, each with the first source that has it."""
    data = path.read_bytes()
    rows = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    pairs = (row if isinstance(row, list) else ["", row] for row in cast("list[object]", rows))
    sources = {_inner_line(str(text)): str(source) for source, text in reversed(list(pairs))}
    lines = (Line(source, text) for text, source in reversed(sources.items()))
    return [line for line in lines if not names_patch_program(line.text)]


_IN_SHELL = re.compile(r"(?:\S*/)?(?:ba|da|z)?sh -l?c\s+(.+)", re.DOTALL)


def _inner_line(text: str) -> str:
    """Return the line that a shell is given, in quotes or, as some logs have it, without them."""
    found = _IN_SHELL.fullmatch(text)
    if found is None:
        return text
    segments = scan_commands(found[1]).segments
    is_quoted = len(segments) == 1 and len(segments[0].words) == 1
    return segments[0].words[0] if is_quoted else found[1]


def workspaces(lines: Sequence[Line]) -> dict[str, str]:
    """Return for each source the folder to which most of its commands go."""
    counts: dict[str, Counter[str]] = {}
    for source, text in lines:
        for segment in scan_commands(text).segments:
            if segment.words[:1] == ("cd",) and segment.words[1:2] and segment.words[1].startswith("/"):
                counts.setdefault(source, Counter())[segment.words[1].rstrip("/")] += 1
    return {source: count.most_common(1)[0][0] for source, count in counts.items()}


def rule_questions(lines: Sequence[Line], *, perfect: bool) -> Iterator[tuple[Line, bool]]:
    """Yield each line and whether it asks where the rules that its first questions made are kept."""
    ruled: set[tuple[str, tuple[str, ...]]] = set()
    for line in lines:
        view = view_command(line.text)
        if not view.plain:
            yield line, True
            continue
        keys = {(line.source, _rule_key(simple.words, perfect=perfect)) for simple in view.commands_to_cover}
        yield line, not keys <= ruled
        ruled |= keys


def _rule_key(words: tuple[str, ...], *, perfect: bool) -> tuple[str, ...]:
    if not perfect:
        return words
    name = program_name(words[0])
    following = words[1:2] if words[1:2] and not words[1].startswith("-") else ()
    return (name, *following) if name in _WITH_SUBCOMMANDS else (name,)


_WITH_SUBCOMMANDS = frozenset({"cargo", "git", "go", "npm", "pip", "pnpm", "uv", "yarn"})


def asks_with_auto(line: Line, workspace: str) -> bool:
    """Return whether the gate asks about a line where no rule says anything and a full sandbox is on."""
    tool = RunInTerminal.descriptor
    context = GateContext(
        descriptors={tool.id: tool}, provider="recorded", workspace=workspace, session_id="s", now=0,
        sandbox=SandboxState(level="workspace", strength="full", is_auto=True),
    )  # fmt: skip
    passed = screen_call(GateCall(tool=tool.id, parameters={"command": line.text}), context)
    return isinstance(passed, ScreenedCall) and judge_screened_call(passed, context).outcome == "ask"


def report(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the rows of the table."""
    folders = workspaces(lines)
    needs = {line: line_needs(line.text, folders.get(line.source, "/w"), "") for line in lines}
    exact = [asks for _, asks in rule_questions(lines, perfect=False)]
    perfect = [asks for _, asks in rule_questions(lines, perfect=True)]
    auto = [asks_with_auto(line, folders.get(line.source, "/w")) for line in lines]
    inside = [asks or bool(needs[line]) for line, asks in zip(lines, perfect, strict=True)]
    rows = {
        "today: every line": len(lines),
        "an exact rule after each first question": sum(exact),
        "a perfect rule after each first question": sum(perfect),
        "ask with a sandbox, perfect rules": sum(inside),
        "auto with a sandbox": sum(auto),
    }
    yield f"{len(lines)} different commands"
    for name, count in rows.items():
        yield f"  {name:<44} {count:>5} {count / len(lines):>6.1%}"
    asking = (needs[line] for line, asks in zip(lines, auto, strict=True) if asks)
    kinds = Counter(found[0].kind if found else "an objection of the gate" for found in asking)
    yield "  asked with auto: " + ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())


def backtest_ms(lines: Sequence[Line]) -> float:
    """Return the processor time in milliseconds in which 5,000 questions are counted."""
    with tempfile.TemporaryDirectory() as folder, Journal.open(Home.open(Path(folder, "home"))) as journal:
        key = session(journal)
        for number in range(MOST_COMMANDS):
            ask(journal, key, f"{lines[number % len(lines)].text} # {number}")
        backtest(journal, None)
        spent: list[float] = []
        for _ in range(5):
            begun = time.process_time()
            backtest(journal, None)
            spent.append((time.process_time() - begun) * 1000)
    return statistics.median(spent)


def main() -> int:
    """Print the table for all commands and for each source, then the time; return whether the aim is met."""
    parser = argparse.ArgumentParser(description="How many commands of real sessions would ask.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--without", action="append", default=[], metavar="SOURCE", help="leave a source out")
    given = parser.parse_args()
    lines = [line for line in read_lines(given.file) if line.source not in given.without]
    if not lines:
        print("no commands were found")
        return 1
    print("\n".join(report(lines)))
    for source in dict.fromkeys(line.source for line in lines):
        print(f"\n{source or 'no source'}:")
        print("\n".join(report([line for line in lines if line.source == source])))
    folders = workspaces(lines)
    asked = sum(asks_with_auto(line, folders.get(line.source, "/w")) for line in lines)
    print(f"\n{MOST_COMMANDS:,} questions counted in {backtest_ms(lines):.0f} ms (aim {AIM_MS} ms)")
    print(f"auto asks about {asked / len(lines):.1%} (aim {AIM:.0%})")
    return 0 if asked <= AIM * len(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
