"""How many commands of real sessions ask, and why: `python benchmarks/questions.py FOLDER [MORE ...]`.

Reads every session below the folders (JSON or JSON lines of any agent), takes the shell commands out of
them, and judges each simple command by patterns that a user would have, and by the exact rule that an answer
"always" makes of its first call. Prints how many lines pass, how long one takes, and why the others ask.
`--lines FILE` judges the lines of a file instead of sessions.
"""

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from workbench.domain.values import PermissionPattern, ToolDescriptor
from workbench.policy.permissions import first_permission_covering
from workbench.policy.shell.analysis import SimpleCommand, view_command
from workbench.tools.registry import every_tool

GRANTS = (
    "git status*", "git diff *", "git log *", "git show *", "git branch *", "git ls-files *", "git add *",
    "git commit *", "git rev-parse *", "ls *", "cat *", "head *", "tail *", "wc *", "grep *", "rg *",
    "find *", "sed *", "awk *", "sort *", "uniq *", "cut *", "tr *", "echo *", "printf *", "pwd", "cd *",
    "which *", "test *", "[ *", "true", "jq *", "tree *", "du *", "stat *", "diff *", "mkdir *", "touch *",
    "xargs *", "pytest *", "python -m pytest *", "python3 -m pytest *", "python3 *.py", "python *.py",
    "ruff *", "mypy *", "npm test*", "npm run *", "npx tsc *", "yarn test*", "pnpm test*", "cargo test*",
    "cargo build*", "go test *", "go build *", "make *", "curl *", "docker ps *", "gh pr view *",
)  # fmt: skip
"""What somebody who works with agents every day has answered "always" to, as `Bash(…)`."""

_NAMES = ("command", "cmd", "script")


def commands_of(node: object) -> Iterator[str]:
    """Yield the shell commands in a record, whatever the agent's format."""
    if isinstance(node, list):
        for each in cast("list[object]", node):
            yield from commands_of(each)
    elif isinstance(node, dict):
        for name, value in cast("dict[str, object]", node).items():
            if name in _NAMES and isinstance(value, str):
                yield value
            elif name in _NAMES and _is_shell(value):
                yield str(cast("list[object]", value)[-1])
            elif isinstance(value, str) and value[:1] in ("{", "["):
                yield from commands_of(_parsed(value))
            else:
                yield from commands_of(value)


def _is_shell(value: object) -> bool:
    return isinstance(value, list) and cast("list[object]", value)[1:2] in (["-c"], ["-lc"])


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def lines_below(folder: Path) -> Iterator[str]:
    """Yield the commands of every session below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in (".json", ".jsonl", ".traj"):
            text = path.read_text(encoding="utf-8", errors="replace")
            whole = _parsed(text)
            yield from commands_of(whole if whole is not None else list(map(_parsed, text.splitlines())))


def cause(line: str, globs: list[PermissionPattern], tool: ToolDescriptor) -> str:
    """Return why a line asks; empty if it passes. What asks becomes an exact pattern, where one can be."""
    seen = view_command(line)
    if not seen.plain:
        return f"no grant covers it: {seen.reasons[0]}"
    asked = [simple for simple in seen.commands if first_permission_covering(globs, tool, simple) is None]
    globs.extend(PermissionPattern(text=f"Bash({simple.source})") for simple in asked)
    return _why(asked[0]) if asked else ""


def _why(simple: SimpleCommand) -> str:
    name = simple.words[0].rpartition("/")[2]
    if simple.assignments:
        return f"a variable in front of {name}"
    if simple.literal and len(simple.literal) == len(simple.words):
        return f"an option of {name} that is not known"
    if simple.literal:
        return f"options behind {name}, which nobody listed"
    return f"no pattern for {name}"


def main() -> int:
    """Judge the commands and print what was found."""
    parser = argparse.ArgumentParser(description="How many commands of real sessions ask, and why.")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--lines", type=Path)
    given = parser.parse_args()
    lines = [line for folder in given.folders for line in lines_below(folder)]
    if given.lines:
        lines += given.lines.read_text(encoding="utf-8").splitlines()
    tool = next(tool.descriptor for tool in every_tool() if tool.descriptor.id == "run_in_terminal")
    globs = [PermissionPattern(text=f"Bash({grant})") for grant in GRANTS]
    causes: Counter[str] = Counter()
    took: list[float] = []
    for line in lines:
        begin = time.perf_counter()
        causes[cause(line, globs, tool)] += 1
        took.append(time.perf_counter() - begin)
    if not lines:
        print("no commands were found")
        return 1
    passed = causes.pop("", 0)
    print(f"{len(lines)} commands: {passed} pass, {len(lines) - passed} ask; "
          f"{statistics.median(took) * 1000:.2f} ms a line, at most {max(took) * 1000:.2f}")  # fmt: skip
    for why, count in causes.most_common():
        print(f"{count:6} {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
