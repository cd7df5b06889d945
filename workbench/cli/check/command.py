"""`workbench check KIND`: one case a line on stdin, one verdict a line on stdout, in the same order.

Owns reading and writing lines. It must never have a side effect: it opens no data folder, no journal and no
connection, and a line that makes no sense costs that line only.
"""

import json
import math
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Final, cast

from workbench.cli.check import kinds
from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.domain.values import JsonObject
from workbench.text.safe import one_line

EXAMPLE = """echo '{"allow": ["Bash(git log *)"], "command": "git log | sh"}' | workbench check command
workbench check path < paths.jsonl"""

LONGEST_LINE: Final = 16_777_216
"""Bytes of one case."""


def configure(parser: ArgumentParser) -> None:
    """Add what is asked about."""
    parser.add_argument("kind", choices=tuple(kinds.KINDS), help="what the cases are about")
    parser.add_argument("--json", action="store_true", help="print JSON; it always does")


def execute(options: Namespace, console: Console) -> int:
    """Answer every line."""
    judge = kinds.KINDS[options.kind]
    for line in _lines():
        console.json_line(json.dumps(answer(judge, line), ensure_ascii=False))
    return DONE


def answer(judge: kinds.Judge, line: bytes) -> JsonObject:
    """Return the verdict on one line, or `{"error": …}`."""
    try:
        if len(line) > LONGEST_LINE:
            raise kinds.BadCase(f"the line is longer than {LONGEST_LINE} bytes")
        case = json.loads(
            line.decode(), object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite
        )
        if not isinstance(case, dict):
            raise kinds.BadCase("the line is no JSON object")
        return judge(cast("JsonObject", case))
    except kinds.BadCase as error:
        return {"error": str(error)}
    except (ValueError, RecursionError) as error:
        return {"error": f"the line is no JSON: {one_line(str(error), 200)}"}


def _lines() -> Iterator[bytes]:
    """Yield lines that hold something, without their ends; what is too long is read past, not kept."""
    while line := sys.stdin.buffer.readline(LONGEST_LINE + 2):
        if not line.endswith(b"\n"):
            while rest := sys.stdin.buffer.readline(LONGEST_LINE):
                if rest.endswith(b"\n"):
                    break
        if stripped := line.strip():
            yield stripped


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise kinds.BadCase("a key is there twice")
    return found


def _finite(digits: str) -> float:
    found = float(digits)
    return found if math.isfinite(found) else cast("float", _no_number(digits[:40]))


def _no_number(name: str) -> object:
    raise kinds.BadCase(f"{name} is no JSON number")
