"""The simple commands of a shell line as people review them: what each does, and whether a rule lets it pass.

Owns the words of that table. It grants nothing: the gate judges the whole line by itself, and a part that is
called plain here may still stand in a line that is not.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from workbench.policy.operands import Boundary, objections
from workbench.policy.shell import Simple, view
from workbench.policy.shell_judging import judge
from workbench.policy.shell_lists import (
    CODE_TAKERS,
    DESTROYERS,
    INTERPRETERS,
    NETWORK,
    WRAPPERS,
    WRITERS,
    program,
)
from workbench.policy.shell_scan import Segment, scan
from workbench.policy.variables import variable_reason
from workbench.text.safe import has_hidden
from workbench.text.scripts import has_mixed_scripts

Mark = Literal[
    "runs net", "network", "removes", "writes", "wrapper", "interpreter", "sets", "hidden", "mixed scripts"
]
"""What a human should know of a part at a glance."""

MOST: Final = 60
"""Parts that are taken apart; a line with more says how many are left."""

_LONGEST: Final = 16_384
_BEFORE: Final = frozenset({"if", "then", "elif", "else", "do", "while", "until", "!", "{"})
_AFTER: Final = frozenset({"fi", "done", "esac", "}"})
_HEADS: Final = frozenset({"for", "select", "case"})
_GROUP: Final = "$()"
"""What stands for commands in brackets, which are parts of their own."""
_ASSIGNED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_INTO: Final = re.compile(r"(?:[0-9]|&)?>[>|&]?")
_ADDRESS: Final = re.compile(r"(?:https?|ftp)://(?:[^/@\s]*@)?(\[[^\]]*\]|[^/:\s]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One simple command of a line."""

    text: str
    """Its words with one blank between them; raw."""
    does: tuple[str, ...] = ()
    """What it does besides running, in words."""
    marks: tuple[Mark, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why no rule covers it, in words; none if one may."""
    simple: Simple | None = None
    """As rules see it; None where it is not plain by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A line taken apart."""

    parts: tuple[Part, ...]
    reasons: tuple[str, ...]
    """Why no rule covers the whole line, in words; none if rules for its parts do."""
    is_certain: bool
    """Whether these are known to be all of its parts."""
    left_out: int = 0


def parts(command: str, boundary: Boundary | None = None) -> Parts:
    """Take a line apart; never raises, and says so where it cannot be certain.

    Args:
        command: The line.
        boundary: What commands may touch here; without one, what they touch is not looked at.
    """
    seen = view(command, boundary and boundary.workspace)
    if len(command) > _LONGEST:
        return Parts(parts=(), reasons=seen.reasons or ("a very long line",), is_certain=False)
    found = [ran for segment in scan(command).segments if (ran := _what_runs(segment, is_plain=seen.plain))]
    against = objections(seen.commands, boundary) if boundary else ()
    touched = against if len(against) == len(found) else ("",) * len(found)
    made: list[Part] = []
    behind_net: int | None = None
    for number, (segment, why) in enumerate(zip(found[:MOST], touched, strict=False), 1):
        made.append(_part(segment, behind_net, why))
        behind_net = number if "network" in made[-1].marks else None
    return Parts(
        parts=tuple(made), reasons=tuple(dict.fromkeys(filter(None, (*seen.reasons, *against)))),
        is_certain=seen.is_certain, left_out=max(0, len(found) - MOST),
    )  # fmt: skip


def _what_runs(segment: Segment, *, is_plain: bool) -> Segment | None:
    """Return a command without the words of the grammar in front of it; None where nothing else is left."""
    count = 0
    while count < len(segment.words) and segment.words[count] in _BEFORE:
        count += 1
    words, bare = segment.words[count:], segment.bare[count:]
    is_head = words[:1] and words[0] in _HEADS and not any(_written_reasons(words))
    is_group = words == (_GROUP,) and is_plain
    if not words or words[0] in _AFTER or is_head or is_group:
        return None
    return Segment(words=words, bare=bare)


def _part(segment: Segment, behind_net: int | None, touched: str) -> Part:
    written = list(segment.words)
    words = [word for word in _without_assignments(segment.bare or segment.words) if word] or list(written)
    name = program(words[0]) if words else ""
    judged = judge(words) if words and name not in _HEADS else None
    reasons = dict.fromkeys(judged.reasons if judged else ())
    reasons.update(dict.fromkeys(_written_reasons(written)))
    marks, does = dict[Mark, None](), dict[str, None]()
    for mark, said in _facts(name, words, written, behind_net):
        marks[mark] = None
        does[said] = None
    if name == "cd":
        does[f"goes to {words[1] if len(words) > 1 else 'the home folder'}"] = None
    does = does or dict.fromkeys(reasons)
    if touched:
        reasons[touched] = does[touched] = None
    text = " ".join(written)
    by_itself = view(shlex.join(written))
    is_plain = by_itself.plain and len(by_itself.commands) == 1 and not reasons and "runs net" not in marks
    return Part(
        text=text, does=tuple(does), marks=tuple(marks), reasons=tuple(reasons),
        simple=by_itself.commands[0] if is_plain else None,
    )  # fmt: skip


def _without_assignments(words: Sequence[str]) -> list[str]:
    at = 0
    while at < len(words) and _ASSIGNED.match(words[at]):
        at += 1
    return list(words[at:])


def _written_reasons(written: Sequence[str]) -> Iterator[str]:
    """Yield what the words as they stand say besides what the program is."""
    for word in written[: len(written) - len(_without_assignments(written))]:
        if why := variable_reason(word.partition("=")[0].removesuffix("+")):
            yield why
    if any("$(" in word or "`" in word for word in written):
        yield "a substitution"
    elif any("$" in word for word in written):
        yield "an expansion"
    if _redirected(written):
        yield "a redirect to a file"


def _redirected(written: Sequence[str]) -> list[str]:
    """Return the files that its output goes to."""
    targets: list[str] = []
    for at, word in enumerate(written):
        if sign := _INTO.match(word):
            target = word[sign.end() :] or (written[at + 1] if at + 1 < len(written) else "?")
            targets += [] if target == "/dev/null" or target.isdigit() or target == "-" else [target]
    return targets


def _facts(
    name: str, words: Sequence[str], written: Sequence[str], behind_net: int | None
) -> Iterator[tuple[Mark, str]]:
    operands = [word for word in words[1:] if not word.startswith("-")]
    yield from _running(name, operands, behind_net)
    yield from _reaching(name, words, operands)
    written_to = [*_redirected(written), *(operands[WRITERS[name] :] if name in WRITERS else ())]
    if written_to:
        yield "writes", f"writes {', '.join(written_to)}"
    if count := len(written) - len(_without_assignments(written)):
        yield "sets", f"sets {', '.join(word.partition('=')[0] for word in written[:count])}"
    if has_hidden(" ".join(written)):
        yield "hidden", "holds characters that cannot be seen"
    if has_mixed_scripts(" ".join(written)):
        yield "mixed scripts", "mixes alphabets that look alike within a word"


def _running(name: str, operands: Sequence[str], behind_net: int | None) -> Iterator[tuple[Mark, str]]:
    """Yield what a program runs besides itself."""
    if behind_net is not None and name in CODE_TAKERS:
        yield "runs net", f"runs what part {behind_net} loads, unseen"
    elif name in INTERPRETERS:
        yield "interpreter", f"{name} runs {operands[0] if operands else 'what it reads'}"
    if name in WRAPPERS:
        yield "wrapper", f"runs {operands[0]} by {name}" if operands else f"{name} runs other programs"


def _reaching(name: str, words: Sequence[str], operands: Sequence[str]) -> Iterator[tuple[Mark, str]]:
    """Yield what it reaches on the network, and what it removes."""
    names = {name, f"{name} {words[1]}" if len(words) > 1 else name}
    if names & NETWORK:
        hosts = ", ".join(dict.fromkeys(host for word in words for host in _ADDRESS.findall(word)))
        yield "network", f"network: {hosts}" if hosts else "reaches the network"
    if names & DESTROYERS:
        is_plain = name in ("rm", "rmdir")
        yield "removes", f"deletes {' '.join(operands)}" if is_plain else "removes or overwrites"
